"""Patterns in RE2's syntax, whose time is linear, such as ``intent_regexp`` over the user's message."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from ..problems import Fault, Faulty

_SLASHES = re.compile(r"/(.*)/([a-z]*)\Z", re.DOTALL)


def intent_pattern(text: str) -> str:
    """``text`` when ``compiled_intent`` takes it. Raises ``Faulty`` otherwise."""
    compiled_intent(text)
    return text


def compiled_intent(text: str) -> Any:
    """The compiled RE2 pattern of ``text``: ``weather``, ``/weather/``, or ``/weather/i`` for any case.

    Use its ``search``. Raises ``Faulty`` (a ``ValueError``) with what is wrong.
    """
    source, flags = text, ""
    if (slashes := _SLASHES.match(text)) is not None:
        source, flags = slashes.groups()
    if flags.strip("i"):
        raise Faulty(Fault((), f"flag {flags.strip('i')[0]!r} is not known", "only i is, for any case"))
    try:
        return compiled(source, ignore_case=bool(flags))
    except ValueError as error:
        raise ValueError(
            f"not an RE2 pattern: {error} (RE2 has no lookaround and no backreferences)"
        ) from None


def compiled(
    source: str, *, ignore_case: bool = False, any_character: bool = False, max_memory: int | None = None
) -> Any:
    """The compiled RE2 pattern ``source``. Raises ``ValueError`` with what the library finds wrong.

    With ``any_character``, ``.`` matches line ends too. What needs more than ``max_memory`` bytes is refused.
    """
    re2: Any = import_module("re2")
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    options.dot_nl = any_character
    if max_memory is not None:
        options.max_mem = max_memory
    try:
        return re2.compile(source, options=options)
    except re2.error as error:
        raise ValueError(_text(error)) from None


def _text(error: Exception) -> str:
    reason = error.args[0] if error.args else error
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
