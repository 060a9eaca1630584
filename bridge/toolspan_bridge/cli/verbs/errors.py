"""``toolspan errors``: what an error means and what to do, by its code or its text."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from ...errors import UsageError
from ..explained import Entry, entries, found_by
from ..inputs.completed import error_codes
from ..inputs.options import json_option
from ..module_group import Verb
from ..terminal.output import emit_json, emit_table, print_text

_LINK = re.compile(r"\[([^][]+)\]\((?:\.\./)?([^()#]++)[^()]*\)")
_MOST_TEXTS = 20


@click.command(name="errors", cls=Verb, example='toolspan errors "no provider"')
@click.argument("words", nargs=-1, metavar="[CODE|TEXT]", shell_complete=error_codes)
@json_option
def command(words: tuple[str, ...], as_json: bool) -> int:
    """Say what an error means and what to do about it: by its code, or by its text as it was printed.

    Without either, every code is listed. The same stands in docs/reference/errors.md. Exit 2 when no error
    has this code or text.
    """
    known = entries()
    wanted = " ".join(words)
    found = found_by(wanted, known) if wanted else list(known)
    if not found:
        raise UsageError(_unknown(wanted, known))
    if as_json:
        emit_json([each.as_dict() for each in found])
    elif not wanted:
        emit_table(["code", "of", "exit", "why it comes"], map(_row, found))
    else:
        for number, each in enumerate(found):
            _show(each, after_another=number > 0)
    return 0


def _unknown(wanted: str, known: Sequence[Entry]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(wanted, [each.code for each in known])
    hint = f"did you mean {near[0]!r}?" if near else "`toolspan errors` lists the codes"
    return f"no error has the code or the text {wanted!r} ({hint})"


def _row(entry: Entry) -> tuple[str, str, str, str]:
    exit_code = "" if entry.exit_code is None else str(entry.exit_code)
    return entry.code, entry.of, exit_code, _without_links(entry.why).partition(". ")[0].rstrip(".")


def _show(entry: Entry, *, after_another: bool) -> None:
    print_text(f"\n{entry.code}" if after_another else entry.code)
    ends = "" if entry.exit_code is None else f"Exit code {entry.exit_code}. "
    print_text(ends + _without_links(entry.why))
    shown = list(entry.texts.items())[:_MOST_TEXTS]
    for text, advice in shown:
        print_text(f"- {text}" + (f"\n  → {advice}" if advice else ""))
    if more := len(entry.texts) - len(shown):
        print_text(f"… and {more} more; toolspan errors TEXT finds one by a part of it", err=True)


def _without_links(text: str) -> str:
    """Links of the page as the names of the files they lead to."""
    return _LINK.sub(r"\1 (docs/\2)", text)
