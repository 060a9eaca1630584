"""A model that says what a scenario has it say, in its provider's wire, and tells what it was not shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, cycle, pairwise, takewhile
from typing import Any

from tests.support.fake_providers import Received, Sent
from tests.support.fake_providers.checks import Check
from tests.support.formats import Wire
from tests.support.wires.openai_responses import REASONING
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import ToolSpec

from ._model import Call, Thought, Turn
from .shown import as_shown, shown_tools

_SHOW = {
    "capabilities": ["completion", "tools", "vision"],
    "model_info": {"general.architecture": "x", "x.context_length": 1_048_576},
}
_ODD = (1, 97, 3, 211, 7, 401, 61, 1009, 2003, 13, 4001)
_NO_IDS = ("gemini", "ollama", "prompt")
_SIGNATURE = "c2ln"
_ECHOED: Mapping[str, tuple[str, ...]] = {
    "anthropic": (_SIGNATURE,),
    "bedrock": (_SIGNATURE,),
    "bedrock-anthropic": (_SIGNATURE,),
    "gemini": (_SIGNATURE,),
    "ollama": (),
    "openai-responses": (str(REASONING["encrypted_content"]),),
}
"""What must come back with the thoughts (wire-formats: "must echo"), where they must come back at all."""


class Brain:
    """Answers each request with the next turn. ``problems`` are what was wrong with the requests."""

    def __init__(
        self, wire: Wire, check: Check, content_type: str, turns: Sequence[Turn], tools: Sequence[ToolSpec]
    ) -> None:
        self.problems: list[str] = []
        self._wire = wire
        self._check = check
        self._content_type = content_type
        self._turns = list(turns)
        self._names = NameTable.of(tools)
        self._asked = 0
        self._echoes: set[str] = set()

    @property
    def left(self) -> int:
        """How many turns were never asked for."""
        return len(self._turns)

    def respond(self, request: Received) -> Sent:
        if request.target == "/api/show":
            return Sent(_SHOW)
        if problem := self._check(request):
            return self._wrong(f"request {self._asked + 1} is refused: {problem}")
        if not self._turns:
            return self._wrong("one request too many")
        self._asked += 1
        turn = self._turns.pop(0)
        body = request.body
        said = "\n".join(_leaves(body))
        self.problems += [f"{each!r} is not sent back" for each in self._echoes if each not in said]
        self._echoes |= self._to_be_echoed(turn)
        for each in turn.sees:
            if each not in said:
                self.problems.append(f"turn {self._asked} was not shown {each!r}")
        for each in turn.misses:
            if each in said:
                self.problems.append(f"turn {self._asked} was shown {each!r}")
        try:
            return self._say(turn, body, streamed=_is_streamed(request))
        except (KeyError, LookupError) as error:
            return self._wrong(f"turn {self._asked} cannot be said: {error!r}")

    def _to_be_echoed(self, turn: Turn) -> set[str]:
        """The thoughts of a turn of calls, and what vouches for them; with Gemini, for the calls."""
        name, thoughts = self._wire.name, {each.text for each in turn.said if isinstance(each, Thought)}
        if not turn.calls or name not in _ECHOED or not (thoughts or name == "gemini"):
            return set()
        return {*_ECHOED[name], *(thoughts if name != "gemini" else ())}

    def _wrong(self, problem: str) -> Sent:
        self.problems.append(problem)
        return Sent({"error": {"message": problem, "code": 400}}, status=400)

    def _say(self, turn: Turn, body: Any, *, streamed: bool) -> Sent:
        shown = shown_tools(body)
        parts = [self._part(number, each, shown) for number, each in enumerate(turn.said)]
        stop = turn.stop if turn.stop in self._wire.answers.STOPS else "stop"
        whole, frames = self._wire.answers.spoken(parts, stop)
        if not streamed:
            return Sent(whole)
        return Sent(frames=odd_pieces(b"".join(frames)), headers={"content-type": self._content_type})

    def _part(self, number: int, said: str | Thought | Call, shown: Any) -> tuple[str, Any]:
        if isinstance(said, str):
            return "text", said
        if isinstance(said, Thought):
            return "thought", said.text
        call_id = said.id
        if call_id == "" or (call_id is None and self._wire.name not in _NO_IDS):
            call_id = f"tool_{self._asked}_{number}"
        if said.wire:
            return "call", (call_id, said.wire, said.arguments)
        (spec,) = [tool for tool in self._names.tools if tool.key == said.key]
        name = self._names.wire(spec)
        written = said.arguments
        if isinstance(written, dict) and name in shown:
            written = as_shown(spec.schema, shown[name], written)
        return "call", (call_id, name, written)


def odd_pieces(whole: bytes) -> list[bytes]:
    """``whole`` in pieces that no framing knows of, so that every kind of border falls within one."""
    ends = takewhile(lambda end: end < len(whole), accumulate(cycle(_ODD)))
    return [whole[start:end] for start, end in pairwise([0, *ends, len(whole)])]


def _is_streamed(request: Received) -> bool:
    if request.target.endswith(("streamGenerateContent?alt=sse", "-stream")):
        return True
    return request.body.get("stream") is True


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (leaf for key, inner in value.items() for leaf in (key, *_leaves(inner)))
    elif isinstance(value, list):
        yield from (leaf for inner in value for leaf in _leaves(inner))
    else:
        yield value if isinstance(value, str) else json.dumps(value)
