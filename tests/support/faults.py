"""Conversations with faults in them: a model that follows a script over a real wire, real servers, and what
must hold of the conversation whatever happens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from typing_extensions import override

from tests.support.fake_providers import FakeProvider, Received, Sent
from tests.support.fake_providers.checks import obeys
from tests.support.formats import Wire
from tests.support.mcp_peers import faulty
from tests.support.wire_peers import Peer, streamed
from toolspan_bridge.approvals.approver import PolicyApprover
from toolspan_bridge.events import Event
from toolspan_bridge.loop import Question, run
from toolspan_bridge.messages import Assistant, Message, ToolOutcome, ToolResults
from toolspan_bridge.toolbox import Toolbox
from toolspan_server.engines.upstreams import ServerSpec

Call = tuple[str, str, Mapping[str, Any]]
"""A call as a model makes it: id, name on the wire, arguments."""

MODELS = {
    "bedrock": "us.anthropic.claude-sonnet-4-6",
    "bedrock-anthropic": "anthropic.claude-sonnet-4-5",
    "gemini": "gemini-3-pro",
}


class Model(FakeProvider):
    """Makes the calls of ``turns``, one turn after another, and then says ``Done.``; to ``And?`` it says
    ``Still here.`` Every request is held to its provider's rules. ``trouble`` are answers in the place of the
    next ones to a request with as many results as their key."""

    def __init__(
        self, wire: Wire, turns: Sequence[Sequence[Call]], trouble: Mapping[int, Sequence[Sent]] | None = None
    ) -> None:
        super().__init__(lambda request: obeys(wire.rules.check_request, request.body), [])
        self._wire = wire
        self._turns = turns
        self._trouble = {place: list(sent) for place, sent in (trouble or {}).items()}

    @override
    def respond(self, request: Received) -> Sent:
        self.received.append(request)
        if problem := self._check(request):
            self.refused.append(problem)
        heard = list(self._wire.answers.conversation(request.body))
        results = sum(entry[0] == "result" for entry in heard)
        if waiting := self._trouble.get(results):
            return waiting.pop(0)
        if heard[-1][0] == "user" and "And?" in heard[-1][1]:
            return self.sent("Still here.", (), request)
        made = 0
        for turn in self._turns:
            if results == made:
                return self.sent("", turn, request)
            made += len(turn)
        return self.sent("Done.", (), request)

    def sent(self, text: str, calls: Iterable[Call], request: Received) -> Sent:
        """An answer, in pieces where they were asked for."""
        if request.target.endswith("in-pieces"):
            return streamed(self._wire.name, *self._wire.answers.frames(text, list(calls)))
        return Sent(self._wire.answers.answer(text, list(calls)))


def servers(folder: Path, **seconds: float) -> list[ServerSpec]:
    """Servers of ``faulty.py``, each with its log in ``folder``, and how long a call of it may take."""
    return [faulty(folder / f"{name}.log", name=name, call_timeout=limit) for name, limit in seconds.items()]


def calls_made(folder: Path, name: str) -> list[str]:
    """The notes of the calls that came to a server."""
    log = folder / f"{name}.log"
    return log.read_text().splitlines() if log.exists() else []


async def ask(
    text: str, wire: Wire, peer: Peer, toolbox: Toolbox, transcript: list[Message], in_pieces: bool = False
) -> list[Event]:
    """The events of one question."""
    model = MODELS.get(wire.name, "m")
    question = Question(text, model, stream=in_pieces, max_iterations=6, max_tokens=512)
    approver = PolicyApprover("never")
    async with aclosing(run(question, peer, toolbox, transcript, approver=approver)) as events:
        return [event async for event in events]


def outcomes(transcript: Iterable[Message]) -> Iterator[ToolOutcome]:
    """Every outcome of a conversation, in its order."""
    for message in transcript:
        if isinstance(message, ToolResults):
            yield from message.outcomes


def check_consistent(transcript: Sequence[Message]) -> None:
    """Every call has one result, directly after it, in its order; and it can all be written down."""
    for place, message in enumerate(transcript):
        if isinstance(message, Assistant) and message.calls:
            results = transcript[place + 1]
            assert isinstance(results, ToolResults)
            assert [each.call_id for each in results.outcomes] == [call.id for call in message.calls]
        if isinstance(message, ToolResults):
            before = transcript[place - 1]
            assert isinstance(before, Assistant) and before.calls
    ids = [outcome.call_id for outcome in outcomes(transcript)]
    assert len(ids) == len(set(ids)), ids
    for outcome in outcomes(transcript):
        json.dumps(outcome.result, allow_nan=False).encode()
