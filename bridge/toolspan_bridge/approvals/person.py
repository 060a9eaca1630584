"""The person who is asked about a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .definition import Departure
from .patterns import Pattern
from .request import Approval, ApprovalRequest


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """The answer of a person; ``pattern`` says which calls, where its scope is ``pattern``."""

    approval: Approval
    pattern: Pattern | None = None


class Person(Protocol):
    """Somebody who can be asked."""

    async def ask(self, request: ApprovalRequest, departure: Departure | None) -> PersonAnswer:
        """The answer. ``departure`` is how the tool's definition differs from one that the person knows.
        Cancelling the question is a no."""
        ...
