"""One recorded trial, made again: what it asks is looked for among what it asked then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...errors import BridgeError
from ...messages import Reply, ToolOutcome
from .contents import RecordedCall, RecordedTrial, RecordedTurn
from .requests import Asked, Tools

__all__ = ["ReplayedTrial"]


class ReplayedTrial:
    """A trial again, from the ``recorded`` one. ``fault`` says what it asked first that is not
    in the recording; ``cut``: it came to where the recorded one was ended."""

    def __init__(self, recorded: RecordedTrial) -> None:
        self._recorded = len(recorded.turns)
        self.fault = ""
        self.cut = False
        self._asked = 0
        self._turns: list[RecordedTurn] = list(recorded.turns)
        self._calls: list[RecordedCall] = list(recorded.calls)

    def answer(self, asked: Asked, tools: Callable[[str], Tools | None]) -> Reply | BridgeError | None:
        """The recorded answer to what is ``asked``; ``None`` where there is none, as ``fault`` or ``cut``
        say. ``tools`` finds the offered ones of a hash."""
        self._asked += 1
        found = next((turn for turn in self._turns if turn.asked.hash == asked.hash), None)
        if found is not None:
            self._turns.remove(found)
            self.cut = self.cut or found.answer is None
            return found.answer
        if self._turns:
            differences = "; ".join(self._turns[0].asked.differences(asked, tools))
            self._fails(f"request {self._asked} is not in the recording: {differences}")
        else:
            had = self._recorded
            self._fails(f"request {self._asked} is not in the recording, which has {had} of this trial")
        return None

    def outcome(self, call_id: str, key: tuple[str, str], arguments: Mapping[str, Any]) -> ToolOutcome | None:
        """The recorded outcome of that call of the tool ``key`` (its server and name) with ``arguments``, as
        they are recorded; ``None`` where there is none, as ``fault`` or ``cut`` say."""
        for call in self._calls:
            if (call.id, call.server, call.tool, call.arguments) == (call_id, *key, arguments):
                self._calls.remove(call)
                self.cut = self.cut or call.outcome is None
                return call.outcome
        self._fails(
            f"the call {call_id} of the tool {key[1]} is not in the recording, or has other arguments"
        )
        return None

    def _fails(self, why: str) -> None:
        if not self.fault and not self.cut:
            self.fault = why
