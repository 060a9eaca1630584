"""Each kind of error at each turn of a conversation, in every format, whole and streamed.

The model calls a tool twice and then answers. Whatever the provider says in between ends in that answer or in
one clear error; no call is made twice, none is lost, and the conversation goes on afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import pytest
from typing_extensions import override

from tests.support.fake_providers import FakeProvider, Received, Sent
from tests.support.fake_providers.checks import obeys
from tests.support.formats import TOOLS, Wire
from tests.support.outcomes import said
from tests.support.wire_peers import FORMATS, Peer, streamed
from toolspan_bridge.errors import (
    AuthError,
    BridgeError,
    ContextOverflowError,
    ProviderError,
    UnreachableError,
)
from toolspan_bridge.events import End, Event, Text
from toolspan_bridge.loop import Question, run
from toolspan_bridge.messages import (
    Assistant,
    Mark,
    Message,
    ToolOutcome,
    ToolResults,
    ToolSpec,
)
from toolspan_bridge.toolbox import Toolbox
from toolspan_bridge.toolbox.reports import Report, unreported
from toolspan_server.engines.upstreams import ListedTool

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.6.1")]

CALLS = 2
MODELS = {
    "bedrock": "us.anthropic.claude-sonnet-4-6",
    "bedrock-anthropic": "anthropic.claude-sonnet-4-5",
    "gemini": "gemini-3-pro",
}
TOOL_REFUSALS = {
    "gemini": "tools[0].function_declarations[0].parameters: bad schema",
    "ollama": "one of the tools has a bad schema",
    "openai": "Invalid schema for function 's__time': no",
    "openai-responses": "Invalid schema for function 's__time': no",
}


@dataclass(frozen=True)
class Kind:
    """A kind of error. ``times`` is how often it comes, ``text`` its words with HTTP 400 (or ``status``), or
    ``made`` what is sent in their place. ``ends`` is the exception of those that no further request helps;
    without one the answer comes."""

    text: str = ""
    status: int = 400
    times: int = 1
    made: Callable[[Wire, bool], Sent] | None = None
    refuses: Callable[[bytes], bool] = lambda content: True
    ends: type[BridgeError] | None = None
    fault: str = "other"
    stop: str = "end"


def _within(wire: Wire, in_pieces: bool) -> Sent:
    """A failure after HTTP 200, before anything else came."""
    if in_pieces:
        return streamed(wire.name, wire.answers.FAILURE)
    return Sent({"error": {"message": "Overloaded", "type": "server_error", "code": 503}})


def _cut(wire: Wire, in_pieces: bool) -> Sent:
    """An answer that breaks off within a call, where the format has calls in pieces."""
    frames = wire.answers.frames("", [("x", "s__weather", {"city": "nowhere"})])
    if not in_pieces or len(frames) == 1:
        return Sent(hang_up=True)
    return streamed(wire.name, *frames[: len(frames) // 2], hang_up=True)


KINDS: dict[str, Kind] = {
    "a tool": Kind("", times=99, refuses=lambda content: b"s__time" in content, fault="tool"),
    "a setting": Kind(
        "`temperature` is deprecated for this model.",
        times=99,
        refuses=lambda content: b'"temperature"' in content,
    ),
    "a failed generation": Kind("Failed to call a function. See 'failed_generation'.", times=2),
    "failed generations": Kind("Failed to call a function.", times=99, stop="malformed"),
    "an overflow": Kind(
        "prompt is too long: 12 tokens > 10 maximum",
        times=99,
        ends=ContextOverflowError,
        fault="context_overflow",
    ),
    "no tools": Kind("m does not support tools", times=99, ends=ProviderError, fault="no_tools"),
    "an order": Kind(
        "Unexpected role 'user' after role 'tool'", times=99, ends=ProviderError, fault="message_order"
    ),
    "a changed prefix": Kind(
        "The block is bound to a different conversation",
        times=99,
        ends=ProviderError,
        fault="changed_prefix",
    ),
    "the wrong wire": Kind("Please use /v1/responses", times=99, ends=ProviderError, fault="wrong_wire"),
    "something else": Kind("The seed is odd", times=99, ends=ProviderError),
    "tools as such": Kind("The tools cannot be used here", times=99, ends=ProviderError, fault="tool"),
    "a wrong key": Kind("No such key", 401, 99, ends=AuthError),
    "a busy provider": Kind("Overloaded", 503),
    "a provider that stays busy": Kind("Overloaded", 503, 99, ends=ProviderError),
    "a lost connection": Kind(made=lambda wire, in_pieces: Sent(hang_up=True)),
    "no connection at all": Kind(
        times=99, made=lambda wire, in_pieces: Sent(hang_up=True), ends=UnreachableError
    ),
    "a failure within": Kind(made=_within),
    "an answer that breaks off": Kind(made=_cut),
    "nonsense": Kind(
        times=99,
        made=lambda wire, in_pieces: Sent(b"<html>", headers={"content-type": "text/html"}),
        ends=ProviderError,
    ),
}


class Troubled(FakeProvider):
    """Lets its model call ``s__weather`` twice and then answer. From the request on that brings as many
    results as ``turn`` says, it is in trouble of a ``kind``, until that is over or ``cured``."""

    def __init__(self, wire: Wire, kind: Kind, turn: int) -> None:
        super().__init__(lambda request: obeys(wire.rules.check_request, request.body), [])
        self._wire = wire
        self._kind = kind
        self._turn = turn
        self._armed = False
        self._left = kind.times

    @property
    def troubles(self) -> int:
        """How many requests met the trouble."""
        return self._kind.times - self._left

    def cure(self) -> None:
        self._left = 0

    @override
    def respond(self, request: Received) -> Sent:
        self.received.append(request)
        if problem := self._check(request):
            self.refused.append(problem)
        heard = list(self._wire.answers.conversation(request.body))
        results = sum(entry[0] == "result" for entry in heard)
        self._armed = self._armed or results == self._turn
        in_pieces = request.target.endswith("in-pieces")
        if self._armed and self._left and self._kind.refuses(request.content):
            self._left -= 1
            return self._trouble(in_pieces)
        return self._answer(results, heard[-1], in_pieces)

    def _trouble(self, in_pieces: bool) -> Sent:
        kind = self._kind
        if kind.made is not None:
            return kind.made(self._wire, in_pieces)
        text = kind.text or TOOL_REFUSALS.get(self._wire.name, "tools.0.custom.input_schema: no")
        return Sent(self._wire.answers.error(text, "invalid_request_error"), status=kind.status)

    def _answer(self, results: int, last: Any, in_pieces: bool) -> Sent:
        if last[0] == "user" and "And?" in last[1]:
            text, calls = "Still here.", []
        elif results < CALLS:
            text, calls = "", [(f"call_{results}", "s__weather", {"city": f"city {results}"})]
        else:
            text, calls = "Done.", []
        answers = self._wire.answers
        if in_pieces:
            return streamed(self._wire.name, *answers.frames(text, calls))
        return Sent(answers.answer(text, calls))


class Counted(Toolbox):
    """Tools that do nothing but count. ``made`` are the cities asked for, in their order."""

    def __init__(self) -> None:
        super().__init__(())
        self.tools = TOOLS
        self.made: list[str] = []

    @override
    def definition(self, spec: ToolSpec) -> ListedTool:
        hints = {"annotations": {"readOnlyHint": True}}
        return ListedTool(spec.name, spec.description, spec.schema, hints)

    @override
    async def call(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any],
        call_id: str,
        conversation: str = "",
        *,
        approved: bool = False,
        shown: str | None = None,
        report: Report = unreported,
        marks: list[Mark] | None = None,
    ) -> ToolOutcome:
        self.made.append(arguments["city"])
        whole = {"success": True, "result": "7 C", "tool_name": spec.name, "execution_time_ms": 1}
        return ToolOutcome(call_id, spec.name, whole, (said("7 C"),))


async def ask(
    text: str, wire: Wire, peer: Peer, toolbox: Toolbox, transcript: list[Message], in_pieces: bool
) -> list[Event]:
    question = Question(
        text, MODELS.get(wire.name, "m"), stream=in_pieces, temperature=0.5, max_tokens=512, max_iterations=6
    )
    async with aclosing(run(question, peer, toolbox, transcript)) as events:
        return [event async for event in events]


def check_whole(transcript: list[Message], made: list[str]) -> None:
    """Every call has its result, directly after it, and each was made once."""
    calls = [message for message in transcript if isinstance(message, Assistant) and message.calls]
    for message in calls:
        results = transcript[transcript.index(message) + 1]
        assert isinstance(results, ToolResults) and len(results.outcomes) == len(message.calls)
    arguments = [call.arguments for message in calls for call in message.calls]
    assert [given and given["city"] for given in arguments] == made


def asked(kind: Kind, turn: int) -> int:
    """How often a request that is refused for good is made: once, and once more without each pair of a call
    and its result, save the last, where it is too long."""
    return max(1, turn) if kind.fault == "context_overflow" else 1


async def troubled(wire_format: str, name: str, turn: int, in_pieces: bool) -> None:
    wire, kind = Wire(wire_format), KINDS[name]
    toolbox, transcript = Counted(), list[Message]()
    with Troubled(wire, kind, turn) as fake:
        async with aclosing(Peer(wire_format, fake.url)) as peer:
            if kind.ends is None:
                events = await ask("Hello?", wire, peer, toolbox, transcript, in_pieces)
                end = events[-1]
                assert isinstance(end, End)
                assert end.answer.stop == kind.stop, end.answer.reason
                shown = [event.text for event in events if isinstance(event, Text)]
                assert shown == (["Done."] if kind.stop == "end" else [])
                assert toolbox.made == [f"city {n}" for n in range(CALLS if kind.stop == "end" else turn)]
            else:
                with pytest.raises(kind.ends) as caught:
                    await ask("Hello?", wire, peer, toolbox, transcript, in_pieces)
                assert type(caught.value) is kind.ends
                assert getattr(caught.value, "fault", "other") == kind.fault
                assert "\n" not in str(caught.value)
                assert toolbox.made == [f"city {n}" for n in range(turn)]
                if kind.made is None and kind.status < 500 and kind.fault != "tool":
                    assert fake.troubles == asked(kind, turn)
            check_whole(transcript, toolbox.made)
            fake.cure()
            made = list(toolbox.made)
            kept = [json.dumps(str(message)) for message in transcript]
            last = (await ask("And?", wire, peer, toolbox, transcript, in_pieces))[-1]
    assert isinstance(last, End) and last.answer.content == "Still here."
    assert toolbox.made == made
    assert [json.dumps(str(message)) for message in transcript][: len(kept)] == kept


def cases() -> Iterator[Any]:
    """All of them; those that ``make test`` runs are second turns, whole and streamed by turns."""
    for row, wire_format in enumerate(FORMATS):
        for column, name in enumerate(KINDS):
            for turn, place in enumerate(("first", "second", "third")):
                for in_pieces, how in ((False, "whole"), (True, "streamed")):
                    now = turn == 1 and (row + column) % 2 == in_pieces
                    marks = [] if now else [pytest.mark.long]
                    case = f"{wire_format}-{name}-{place}-{how}"
                    yield pytest.param(wire_format, name, turn, in_pieces, id=case, marks=marks)


@pytest.mark.parametrize(("wire_format", "name", "turn", "in_pieces"), list(cases()))
async def test_every_error_at_every_turn_ends_in_an_answer_or_one_clear_error(
    wire_format: str, name: str, turn: int, in_pieces: bool
) -> None:
    await troubled(wire_format, name, turn, in_pieces)
