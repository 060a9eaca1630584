"""Regular expressions from outside: RE2, which needs linear time, within limits of size and time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ...calls.context import Context
from ...common import re2_patterns
from ...common.json_values import shortened
from ...errors import InvalidParameters, ToolFailure

MAX_PATTERN = 1_000
MAX_SECONDS = 1.0
_MAX_MEMORY = 8 << 20
_MAX_WORK = 100_000_000
_REFERENCE = re.compile(r"\\([0-9][0-9]?|g<\w+>|.|$)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\"}


def matches(pattern: str, text: str, context: Context) -> Iterator[Any]:
    """The matches of ``pattern`` in ``text``, in order; none overlap.

    Raises ``InvalidParameters`` for a pattern that RE2 refuses, ``ToolFailure`` when the search is
    too large or takes longer than a second.
    """
    compiled = _compiled(pattern)
    if compiled.programsize * len(text) > _MAX_WORK:
        raise ToolFailure(
            f"The pattern is too large for a text of {len(text):,} characters",
            user_action="Use a simpler pattern, without large repetitions, or a shorter text.",
        )
    ends = time.monotonic() + MAX_SECONDS
    for found in compiled.finditer(text):
        context.raise_if_cancelled()
        if time.monotonic() > ends:
            raise ToolFailure(
                f"The search took longer than {MAX_SECONDS:g} s",
                user_action="Use a simpler pattern, a shorter text, or a smaller max_matches.",
            )
        yield found


def expanded(match: Any, replacement: str) -> str:
    r"""``replacement`` with what ``\1``, ``\g<name>``, ``\n``, ``\t`` and ``\\`` stand for in ``match``."""

    def part(found: re.Match[str]) -> str:
        written = found[1]
        if written in _ESCAPES:
            return _ESCAPES[written]
        group = written.removeprefix("g<").removesuffix(">")
        try:
            return match.group(int(group) if group.isdecimal() else group) or ""
        except (IndexError, ValueError):
            raise InvalidParameters(
                [f"'replacement' has {found[0]!r}, which is no group of the pattern"]
            ) from None

    return _REFERENCE.sub(part, replacement)


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> Any:
    if len(pattern) > MAX_PATTERN:
        raise InvalidParameters([f"'pattern' must have at most {MAX_PATTERN:,} characters"])
    try:
        return re2_patterns.compiled(pattern, max_memory=_MAX_MEMORY)
    except ValueError as error:
        raise InvalidParameters([f"'pattern' is no RE2 pattern: {shortened(str(error), 200)}"]) from None
