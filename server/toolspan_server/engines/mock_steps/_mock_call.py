"""One call of a mock: what its templates may use, and what it must remember between rounds."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, cast

from ...calls.context import Context

RESERVED: Mapping[str, tuple[str, ...] | None] = {
    "answers": None,
    "arguments": None,
    "call": ("number", "tool", "nearest"),
    "client": ("elicitation", "sampling", "roots"),
}
"""What a template sees beside the arguments, which these names win over; and what is in it, if fixed."""


class MockCall:
    """One call. In the modern era it is made again for every round of questions, with the same memory.

    ``number`` counts the calls of the tool, from 1; ``done`` the steps that need not be taken again.
    """

    def __init__(self, arguments: Mapping[str, Any], context: Context, next_number: int) -> None:
        self.context = context
        self.answers: dict[str, Any] = {}
        self._key = f"mock {context.tool_name}"
        self._kept = _kept(context.client.memory, self._key)
        self.resumed = "number" in self._kept
        self.number = int(self._kept.get("number", next_number))
        self.scope = {
            **arguments,
            "arguments": arguments,
            "answers": self.answers,
            "call": {"number": self.number, "tool": context.tool_name},
            "client": {able: context.client.accepts(able) for able in ("elicitation", "sampling", "roots")},
        }

    @property
    def done(self) -> int:
        """How many steps were taken in earlier rounds."""
        return int(self._kept.get("done", 0))

    def keep(self, done: int) -> None:
        """Remember that ``done`` steps are taken."""
        self._kept = {"number": self.number, "done": done}
        self.context.client.memory[self._key] = self._kept

    def note_nearest(self, rule: str) -> None:
        """Let templates know the rule that is nearest, where none holds."""
        self.scope = {**self.scope, "call": {**self.scope["call"], "nearest": rule}}

    def end(self) -> None:
        """Forget the call: it has its answers."""
        self.context.client.memory.pop(self._key, None)


def _kept(memory: MutableMapping[str, Any], key: str) -> Mapping[str, Any]:
    found = memory.get(key)
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}
