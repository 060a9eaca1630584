"""References to variables in texts: ``${VAR}``, ``${VAR:-default}``; other clients write ``${env:VAR}``."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

_REFERENCE = r"\$\{(?:(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-((?:(?!\$\{)[^}])*))?\})?"
_ESCAPE = r"\$\$\{"


def substituted(
    text: str,
    value: Callable[[str, str | None], str],
    other: Callable[[int], str],
    *,
    escapes: bool,
) -> str:
    """``text`` with every reference replaced by ``value(name, default)``.

    A ``${`` that begins no reference is replaced by ``other`` of its index in ``text``. With ``escapes``,
    ``$${`` stands for a literal ``${``.
    """

    def replacement(found: re.Match[str]) -> str:
        if found.group() == "$${":
            return "${"
        name, default = found.groups()
        return other(found.start()) if name is None else value(name, default)

    return _pattern(escapes).sub(replacement, text)


@cache
def _pattern(escapes: bool) -> re.Pattern[str]:
    return re.compile(f"{_ESCAPE}|{_REFERENCE}" if escapes else _REFERENCE)
