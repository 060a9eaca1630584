"""Conversations go on in any wire format: with parallel, denied, edited and failed calls, cut results, plan
mode, todos, sub-agents, sources and thoughts; saved, loaded and summarised. Each request is one that its
provider takes."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from tests.support.histories import FORMATS, Peer
from tests.support.local_tools import Performed, answered, box, events_of
from toolspan_bridge import (
    Approval,
    ApprovalRequest,
    Conversation,
    Provider,
    Question,
    Reply,
    Request,
    ToolOutcome,
    ToolResults,
    compact,
)
from toolspan_bridge.agent.plan_mode import PLANNING
from toolspan_bridge.formats import format_names
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages.deltas import Delta
from toolspan_bridge.toolbox.local import LocalFailure
from toolspan_server.engines.upstreams import ListedTool

pytestmark = pytest.mark.requirement("I12.5.55")

_THOUGHT = ("thought", "Where was it? Tromsø 🌧.")
_TEXT = ("text", "I look.")
TOOLS = ("look", "long", "fails", "guarded", "edited", "TodoWrite", "Task", "EnterPlanMode")
TURNS: dict[str, tuple[Any, ...]] = {
    "one": ("look",),
    "thoughts, text and parallel calls": (_THOUGHT, _TEXT, "look", "look", "fails"),
    "a long result": (_THOUGHT, "long"),
    "read on": ("read_result",),
    "denied and edited": (_TEXT, "guarded", "edited"),
    "todos": ("TodoWrite",),
    "a sub-agent": (_TEXT, "Task", "Task"),
    "plan mode": ("EnterPlanMode",),
    "malformed": ("look", "no_such_tool"),
}


class Model(Provider):
    """A model that speaks ``peer``'s format: it has a turn of each of ``kinds``, and then answers, from a
    search of its provider's own where there is one. Each request is held to its provider's rules."""

    def __init__(self, peer: Peer, kinds: list[str], first_id: int) -> None:
        self._peer = peer
        self._kinds = [*kinds]
        self._ids = iter(range(first_id, first_id + 1_000))
        self.name = peer.origin
        self.format_name = peer.name

    @override
    async def answer(self, request: Request) -> Reply:
        peer = self._peer
        peer.sent(request)
        if parts := self._parts(request, NameTable.of(request.tools)):
            return peer.says(*parts)
        searched = next((name for name in peer.turn_names() if "search" in name), None)
        reply = None if searched is None or request.tool_choice == "none" else peer.turn(searched).whole
        return reply or peer.says(_THOUGHT, ("text", "It is seven."))

    @override
    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        yield await self.answer(request)

    @override
    async def aclose(self) -> None:
        """There is nothing to close."""

    def _parts(self, request: Request, table: NameTable) -> list[Any]:
        if request.tool_choice == "none" or not request.tools or not self._kinds:
            return []
        return [
            ("call", self._call(part, request, table)) if isinstance(part, str) else part
            for part in TURNS[self._kinds.pop(0)]
        ]

    def _call(self, name: str, request: Request, table: NameTable) -> tuple[str, str, dict[str, Any]]:
        number = next(self._ids)
        spec = next((tool for tool in request.tools if tool.name == name), None)
        arguments: dict[str, Any] = {"n": number}
        if name == "read_result":
            arguments = {"call_id": _cut_call(request), "offset": 5}
        return f"c{number}", name if spec is None else table.wire(spec), arguments


def _cut_call(request: Request) -> str:
    texts = [str(each.parts) for each in _outcomes(request.messages)]
    found = [match for text in texts for match in re.findall(r'call_id="([^"]+)"', text)]
    return found[-1] if found else "none"


def _outcomes(messages: Any) -> list[ToolOutcome]:
    return [each for message in messages if isinstance(message, ToolResults) for each in message.outcomes]


class Person:
    """Denies calls of ``guarded``, and changes those of ``edited``."""

    def reason_to_ask(self, server: str, tool: ListedTool, arguments: Mapping[str, Any]) -> str:
        return "ask" if tool.name in ("guarded", "edited") else ""

    async def decide(self, request: ApprovalRequest) -> Approval:
        if request.tool.name == "guarded":
            return Approval(allowed=False, decider="person", reason="not this one")
        return Approval(allowed=True, decider="person", arguments={"n": -1})


async def _long(call: Any) -> Any:
    return {"text": "ä" * 500, "$ref": "#/a"}


async def _fails(call: Any) -> Any:
    raise LocalFailure("it broke", "broken", "Do without.")


async def _agent(call: Any) -> Any:
    return {"answer": "found", "calls": 1, "conversation": "a/1-c1-x.json"}


def tools() -> Any:
    performed: dict[str, Callable[[Any], Any]] = {"long": _long, "fails": _fails, "Task": _agent}
    return box(*(Performed(name, performed.get(name)) for name in TOOLS))


def saved(talk: Conversation) -> Conversation:
    return Conversation.from_json(talk.to_json())


async def asked(talk: Conversation, peer: Peer, kinds: list[str], place: int, stream: bool) -> None:
    system = "Be kind." if not talk.plan_mode else f"Be kind.\n\n{PLANNING}"
    question = Question(
        f"Question {place}?",
        "m",
        system=system,
        max_iterations=len(TURNS) + 1,
        result_characters=200,
        stream=stream,
        max_tokens=2_048,
    )
    model = Model(peer, kinds, place * 1_000)
    told = answered(await events_of(question, model, tools(), talk, approver=Person()))
    assert told.content and not told.broken, told
    for before, after in zip(talk.messages, talk.messages[1:], strict=False):
        if isinstance(after, ToolResults):
            calls = [call.id for call in getattr(before, "calls", ())]
            assert calls == [outcome.call_id for outcome in after.outcomes]


async def goes_on(steps: list[tuple[str, list[str], str, bool]]) -> None:
    talk = Conversation()
    for place, (name, kinds, then, stream) in enumerate(steps):
        peer = Peer(name)
        await asked(talk, peer, kinds, place, stream)
        talk = saved(talk)
        if then == "summary":
            await compact(talk, Model(peer, [], 0), "m")
        elif then == "plan":
            talk.plan_mode = not talk.plan_mode
        talk = saved(talk)


KINDS = list(TURNS)


@pytest.mark.long
@pytest.mark.parametrize("first", format_names())
def test_a_conversation_with_everything_goes_on_in_every_format(first: str) -> None:
    place = FORMATS.index(first)
    others = [FORMATS[(place + step) % len(FORMATS)] for step in (1, 4, 9)]
    steps = [(first, KINDS, "", False), *((name, ["one"], "", False) for name in others)]
    again = (first, ["thoughts, text and parallel calls"], "plan", False)
    anyio.run(goes_on, [*steps, again, (first, KINDS, "summary", False), (others[0], KINDS, "", False)])


_STEP = st.tuples(
    st.sampled_from(FORMATS),
    st.lists(st.sampled_from(KINDS), max_size=4),
    st.sampled_from(["", "summary", "plan"]),
    st.booleans(),
)


@pytest.mark.long
@given(st.lists(_STEP, min_size=2, max_size=5))
@settings(max_examples=60, deadline=None)
def test_any_conversation_goes_on_in_any_format(steps: list[tuple[str, list[str], str, bool]]) -> None:
    anyio.run(goes_on, steps)
