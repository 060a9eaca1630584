"""Finds entries by a code, or by a message as it was printed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from toolspan_server.common.re2_patterns import compiled

from .entries import Entry

_ANY = "…"
_END = " …(){}[].:;,'"
"""What a message may end in that somebody who copies it leaves out."""

_FIXED = 10
"""Characters of a message that are to stand in what was printed, for the message to be found in it."""


def found_by(words: str, known: Sequence[Entry]) -> list[Entry]:
    """The entries of the code ``words``; else those that have a message which ``words`` is, holds or is a
    part of, in any case, each with these messages alone, the longest one first."""
    wanted = " ".join(words.split())
    if by_code := [each for each in known if _pattern(each.code).fullmatch(wanted)]:
        return by_code
    said = [(each, _matching(each, wanted)) for each in known]
    found = [replace(each, texts={text: each.texts[text] for text in texts}) for each, texts in said if texts]
    return sorted(found, key=lambda each: -max(map(_fixed, each.texts)))


def _matching(entry: Entry, wanted: str) -> list[str]:
    matching = [text for text in entry.texts if _is_said(text, wanted)]
    return sorted(matching, key=_fixed, reverse=True)


def _is_said(text: str, wanted: str) -> bool:
    """Whether ``wanted`` is an instance of ``text``, holds one, or is a part of it."""
    if wanted.casefold() in text.casefold():
        return True
    begun = text.rstrip(_END)
    return _fixed(begun) >= _FIXED and _pattern(begun).search(wanted) is not None


def _pattern(text: str) -> Any:
    return compiled(".+".join(re.escape(part) for part in text.split(_ANY)), ignore_case=True)


def _fixed(text: str) -> int:
    return len(text.replace(_ANY, ""))
