"""The person who is asked about a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .patterns import Pattern
from .request import Approval, ApprovalRequest


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """The answer of a person; ``pattern`` says which calls, where its scope is ``pattern``."""

    approval: Approval
    pattern: Pattern | None = None


class Person(Protocol):
    """Somebody who can be asked."""

    async def ask(self, request: ApprovalRequest, earlier: Mapping[str, Any] | None) -> PersonAnswer:
        """The answer. ``earlier`` is the tool's definition at the time of an answer that no longer holds,
        as the definition changed since. Cancelling the question is a no."""
        ...
