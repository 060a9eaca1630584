"""What calls inside a call gave, kept for when the whole is made again with the client's answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ...calls.client import Client
from ...calls.results import ToolResult

_MEMORY = "dev.toolspan/calls"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call gave: ``result``, or with an ``error`` why there is none."""

    result: Any = None
    error: str = ""
    error_code: str = ""
    user_action: str = ""

    @classmethod
    def of(cls, result: ToolResult) -> Outcome:
        """The outcome in ``result``."""
        if result.success:
            return cls(result.result)
        return cls(None, result.error or result.error_code, result.error_code, result.user_action)


class Replay:
    """The outcomes of a call's inner calls by name: those of an earlier round, and new ones."""

    def __init__(self, client: Client) -> None:
        self._client = client
        earlier: dict[str, Any] = client.memory.get(_MEMORY, {})
        self._known = {name: Outcome(**outcome) for name, outcome in earlier.items()}

    def get(self, name: str) -> Outcome | None:
        """What the call ``name`` gave, if it was made."""
        return self._known.get(name)

    def note(self, name: str, outcome: Outcome) -> None:
        """The call ``name`` gave ``outcome``."""
        self._known[name] = outcome

    def keep(self) -> None:
        """Have all outcomes in the client's memory for the next round."""
        self._client.memory[_MEMORY] = {name: asdict(outcome) for name, outcome in self._known.items()}
