"""Secret values, and texts without them."""

from __future__ import annotations

from base64 import b64encode
from collections import deque
from collections.abc import Iterable
from typing import Any

from ...common.secrets.redaction import Redactor

_NEWEST = 8
"""How many values that came up at run time are remembered: a token is replaced by the next."""


class Secrets:
    """Takes texts and gives them without any of ``values``, also where they are escaped or in Base64."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = frozenset(values)
        self._later: deque[str] = deque(maxlen=_NEWEST)
        self._redactor = self._made()

    def add(self, value: str) -> None:
        """Take out ``value`` from now on."""
        if value and value not in self._later and value not in self._values:
            self._later.append(value)
            self._redactor = self._made()

    def redact(self, text: str) -> str:
        """``text`` without them."""
        return self._redactor(text)

    def redact_all(self, value: Any) -> Any:
        """A JSON value without them, in every text and key."""
        if not self._redactor:
            return value
        if isinstance(value, str):
            return self._redactor(value)
        if isinstance(value, list):
            return [self.redact_all(part) for part in value]  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, dict):
            return {self.redact(str(name)): self.redact_all(part) for name, part in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return value

    def _made(self) -> Redactor:
        return Redactor((*self._values, *self._later))


def basic(user: str, password: str) -> str:
    """User and password as ``Authorization: Basic`` has them (RFC 7617)."""
    return b64encode(f"{user}:{password}".encode()).decode()
