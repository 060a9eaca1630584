"""What each form of an argument is made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, Protocol

Fits = Callable[[Any, Any], bool]
"""Whether the second value is what the first one, which may hold forms, expects."""
Check = Callable[[Any], None]
"""Raises ``ValueError`` for an expected value whose forms cannot be used."""


class _Missing:
    pass


MISSING: Final = _Missing()
"""Stands for an argument that is not there."""


class Form(Protocol):
    """A form: its operand is what stands under its name in the suite."""

    def check(self, operand: Any, check: Check) -> None:
        """Raise ``ValueError`` when ``operand`` cannot be used; ``check`` does so for a value inside it."""
        ...

    def fits(self, operand: Any, actual: Any, fits: Fits) -> bool:
        """Whether ``actual``, which is there, fits; ``fits`` compares a value inside."""
        ...

    def told(self, operand: Any) -> str:
        """What is expected, in words."""
        ...


def shown(value: Any) -> str:
    """``value`` as JSON."""
    return json.dumps(value, ensure_ascii=False, default=str)
