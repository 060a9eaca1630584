"""Edits of a text: a part that occurs once, or everywhere, replaced by another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ....errors import ToolFailure
from .text import Newline, newline_of, with_newline

_NEWLINE = re.compile("\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Replacement:
    """``old`` replaced by ``new``: its one occurrence, or with ``everywhere`` each."""

    old: str
    new: str
    everywhere: bool = False


def edited(text: str, replacements: Sequence[Replacement], path: str) -> tuple[str, int]:
    """``text`` after ``replacements``, one after another, and how many places were changed.

    Ends of lines are equal to each other in what is looked for, and those of the text are kept in what is put
    in. Raises ``ToolFailure`` (``no_match``, ``ambiguous_match``, ``invalid_parameters``) when one of them
    does not fit; none of them counts then.
    """
    total = 0
    for number, each in enumerate(replacements, 1):
        where = path if len(replacements) == 1 else f"{path}, edit {number} of {len(replacements)}"
        text, count = _replaced(text, each, where)
        total += count
    return text, total


def _replaced(text: str, wanted: Replacement, where: str) -> tuple[str, int]:
    _check(wanted, where)
    pattern = re.compile(r"(?:\r\n|\n|\r)".join(map(re.escape, _NEWLINE.split(wanted.old))))
    found = list(pattern.finditer(text))
    if not found:
        raise ToolFailure(
            f"{where}: old_string does not occur in the file{_hint(text, wanted.old)}",
            error_code="no_match",
            user_action="Read the file again and copy the text exactly, without the line numbers.",
        )
    if len(found) > 1 and not wanted.everywhere:
        lines = ", ".join(str(len(_NEWLINE.findall(text, 0, each.start())) + 1) for each in found[:5])
        raise ToolFailure(
            f"{where}: old_string occurs {len(found):,} times (lines {lines}{', …' * (len(found) > 5)})",
            error_code="ambiguous_match",
            user_action="Give more of the text around it, or set replace_all.",
        )
    usual = newline_of(text) if _NEWLINE.search(text) else None
    pieces: list[str] = []
    end = 0
    for match in found:
        pieces += (text[end : match.start()], _fitted(wanted.new, match[0], usual))
        end = match.end()
    return "".join(pieces) + text[end:], len(found)


def _check(wanted: Replacement, where: str) -> None:
    if not wanted.old:
        fault, action = "old_string is empty", "Give the text to replace, or use Write."
    elif wanted.old == wanted.new:
        fault, action = "old_string and new_string are the same", "Give another new_string."
    else:
        return
    raise ToolFailure(f"{where}: {fault}", error_code="invalid_parameters", user_action=action)


def _fitted(new: str, replaced: str, usual: Newline | None) -> str:
    """``new`` with the ends of lines of what it replaces, else the text's usual; as it is without any."""
    if _NEWLINE.search(replaced):
        return with_newline(new, newline_of(replaced))
    return new if usual is None else with_newline(new, usual)


def _hint(text: str, old: str) -> str:
    """What may be the reason why ``old`` is not found."""
    if re.search(r"^ *\d+\t", old):
        return " (it seems to hold line numbers, which are no part of it)"
    if _plain(old) and _plain(old) in _plain(text):
        return " (only its white space differs from a text of the file)"
    if old.casefold() in text.casefold():
        return " (only its case differs from a text of the file)"
    return ""


def _plain(text: str) -> str:
    return " ".join(text.split())
