"""Where scenarios are played: a format's real provider, its strict fake on loopback, servers in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any

import anyio
import pytest
from typing_extensions import override

from tests.support.fake_providers import FakeProvider, Received, Sent, anything
from tests.support.formats import Wire
from tests.support.provider_settings import instant
from tests.support.waiting import BOUND_S
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.events import Answer as Answered
from toolspan_bridge.events import (
    End,
    Event,
    Notice,
    Text,
    TextDelta,
)
from toolspan_bridge.loop import Question, run
from toolspan_bridge.messages import Message
from toolspan_bridge.providers import Provider, resolve_model
from toolspan_bridge.toolbox import Toolbox

from ._brain import Brain
from ._model import Round, Scenario
from .places import PLACES
from .servers import Made, canned


class Peer(FakeProvider):
    """One fake for all formats and scenarios: ``brain`` is who answers just now."""

    def __init__(self) -> None:
        super().__init__(anything, ())
        self.brain: Brain | None = None

    @override
    def respond(self, request: Received) -> Sent:
        assert self.brain is not None
        return self.brain.respond(request)


class Stage:
    """Plays scenarios in one format, always over the same connections."""

    def __init__(self, name: str, peer: Peer, provider: Provider, model: str) -> None:
        self._wire = Wire(name)
        self._place = PLACES[name]
        self._peer = peer
        self._provider = provider
        self._model = model

    async def play(self, scenario: Scenario, *, stream: bool) -> list[str]:
        """What went otherwise than it should; nothing when all is well."""
        made: list[Made] = []
        toolbox = Toolbox(canned(scenario.tools, made))
        transcript = list(scenario.history)
        problems: list[str] = []
        for number, each in enumerate(scenario.rounds, start=1):
            found = await self._round(each, toolbox, transcript, made, stream=stream)
            problems += [f"round {number}: {problem}" for problem in found]
        return problems

    async def _round(
        self, each: Round, toolbox: Toolbox, transcript: list[Message], made: list[Made], *, stream: bool
    ) -> list[str]:
        place = self._place
        check = place.streamed if stream else place.whole
        brain = Brain(self._wire, check, place.content_type, each.turns, toolbox.tools)
        self._peer.brain = brain
        made.clear()
        question = Question(each.question, self._model, stream=stream, **each.options)
        with anyio.fail_after(BOUND_S):
            try:
                events = [event async for event in run(question, self._provider, toolbox, transcript)]
            except Exception as error:
                return [*brain.problems, f"the run raised {error!r}"]
        problems = [*brain.problems, *_compared(each, events, made)]
        if brain.left:
            problems.append(f"{brain.left} turns were never asked for")
        if Conversation.from_json(Conversation(transcript).to_json()).messages != transcript:
            problems.append("the transcript is another after it is saved and loaded")
        return problems


def _compared(each: Round, events: list[Event], made: list[Made]) -> list[str]:
    assert isinstance(events[-1], End)
    answer = events[-1].answer
    calls = [call for turn in each.turns for call in turn.calls if call.gets != "cut"]
    expected = {
        "answer": (answer.content, each.expected),
        "calls": ([_use(use) for use in answer.tool_calls], [call.gets for call in calls]),
        "made": (
            made,
            [(*c.key, c.arguments if c.means is None else c.means) for c in calls if c.reaches],
        ),
        "flags": (_flags(answer), each.flags),
    }
    problems = [
        f"{what} {got!r}, not {wanted!r}" for what, (got, wanted) in expected.items() if got != wanted
    ]
    notices = "\n".join(event.text for event in events if isinstance(event, Notice))
    if each.notice not in notices or (notices and not each.notice):
        problems.append(f"the notices {notices!r}, not {each.notice!r}")
    if not answer.usage.input_tokens or not answer.usage.output_tokens:
        problems.append(f"no usage: {answer.usage}")
    return [*problems, *_pieces(events)]


def _use(use: Any) -> str:
    return "ok" if use.result["success"] else str(use.result["error_code"])


def _flags(answer: Answered) -> frozenset[str]:
    names = ("max_iterations_reached", "repeated_calls_stopped", "incomplete")
    return frozenset(name for name in names if getattr(answer, name))


def _pieces(events: list[Event]) -> list[str]:
    """The pieces of a stream add up to the whole texts."""
    pieces = "".join(event.text for event in events if isinstance(event, TextDelta))
    whole = "".join(event.text for event in events if isinstance(event, Text))
    return [f"the pieces {pieces!r} are not {whole!r}"] if pieces and pieces != whole else []


@asynccontextmanager
async def open_stages() -> AsyncIterator[Mapping[str, Stage]]:
    """A stage for every format, all before the same fake."""
    async with AsyncExitStack() as stack:
        peer = stack.enter_context(Peer())
        stages: dict[str, Stage] = {}
        for name, place in PLACES.items():
            with pytest.MonkeyPatch.context() as environment:
                for variable, value in place.variables(peer.url).items():
                    environment.setenv(variable, value)
                provider, model = resolve_model(place.model, instant(max_bytes=4_000_000))
            await stack.enter_async_context(aclosing(provider))
            stages[name] = Stage(name, peer, provider, model)
        yield stages
