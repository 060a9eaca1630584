"""Patterns over what a model wrote, in RE2, so that no text takes long, with Python's notion of a character.

BFCL's converters are written with Python's ``re``: its ``\\s``, ``\\d`` and ``\\w`` are Unicode's, and its
``$`` stands before a last line end too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from toolspan_server.common.re2_patterns import compiled

from .._clean import clean_text

SPACE = r"[\s\x0b\x1c-\x1f\x85\p{Z}]"
WORD = r"[\p{L}\p{N}_]"
DIGIT = r"\p{Nd}"
END = r"\n?\z"


def found(pattern: str, text: str, *, any_character: bool = False) -> Any:
    """The first match of ``pattern`` in ``text``, or ``None``; with ``any_character``, ``.`` matches line
    ends too."""
    return _compiled(pattern, any_character).search(clean_text(text))


def all_found(pattern: str, text: str) -> Iterator[Any]:
    """Each match of ``pattern`` in ``text``, from left to right."""
    return iter(_compiled(pattern, any_character=False).finditer(clean_text(text)))


@cache
def _compiled(pattern: str, any_character: bool) -> Any:
    return compiled(pattern, any_character=any_character)
