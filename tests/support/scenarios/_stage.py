"""Where scenarios are played: a format's real provider, its strict fake on loopback, servers in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from typing_extensions import override

from tests.support import official_types
from tests.support.fake_providers import FakeProvider, Received, Sent, anything, checks
from tests.support.formats import Wire
from tests.support.provider_settings import instant
from toolspan_bridge.conversation import dumps, loads
from toolspan_bridge.events import Answer as Answered
from toolspan_bridge.events import End, Event, Notice, Text, TextDelta
from toolspan_bridge.loop import Question, run
from toolspan_bridge.messages import Message, ToolSpec
from toolspan_bridge.providers import Provider, resolve_model
from toolspan_bridge.toolbox import Toolbox
from toolspan_bridge.toolbox.connection import ToolConnection
from toolspan_server.upstreams import Answer, ServerSpec

from ._brain import Brain
from ._model import Round, Scenario, Tool

KEY = "sk-scenario"
_CLAUDE = "anthropic.claude-x-v1:0"
_EVENTS = "application/vnd.amazon.eventstream"
_SSE = "text/event-stream"


@dataclass(frozen=True)
class Place:
    """A format's provider: the model, its settings at a base URL, its check for whole answers and streams."""

    model: str
    variables: Callable[[str], Mapping[str, str]]
    whole: checks.Check
    streamed: checks.Check
    content_type: str = _SSE


def _bedrock(base: str) -> dict[str, str]:
    return {
        "AWS_BEARER_TOKEN_BEDROCK": KEY,
        "AWS_REGION": "eu-west-3",
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": base,
    }


def _openai(base: str) -> dict[str, str]:
    return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{base}/v1"}


def _also(check: checks.Check, official: Callable[[Any], None]) -> checks.Check:
    """``check``, and then what the provider's own client says of the body."""

    def both(request: Received) -> str:
        return check(request) or checks.obeys(official, request.body)

    return both


_CHAT = _also(checks.openai(KEY), lambda body: official_types.check_openai("chat", body))
_RESPONSES = _also(checks.responses(KEY), lambda body: official_types.check_openai("responses", body))
_PROMPT = _also(checks.prompted(KEY), lambda body: official_types.check_openai("chat", body))


def _gemini(method: str) -> checks.Check:
    return _also(checks.gemini(KEY, "gemini-3-pro", method=method), official_types.check_gemini)


PLACES: Mapping[str, Place] = {
    "openai": Place("openai/gpt-x", _openai, _CHAT, _CHAT),
    "openai-responses": Place("openai-responses/gpt-x", _openai, _RESPONSES, _RESPONSES),
    "prompt": Place("prompt:openai/gpt-x", _openai, _PROMPT, _PROMPT),
    "anthropic": Place(
        "anthropic/claude-x",
        lambda base: {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": base},
        checks.anthropic(KEY),
        checks.anthropic(KEY),
    ),
    "gemini": Place(
        "gemini/gemini-3-pro",
        lambda base: {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": base},
        _gemini("generateContent"),
        _gemini("streamGenerateContent?alt=sse"),
    ),
    "ollama": Place(
        "ollama/llama-x",
        lambda base: {"OLLAMA_HOST": base},
        checks.ollama(),
        checks.ollama(),
        "application/x-ndjson",
    ),
    "bedrock": Place(
        f"bedrock/{_CLAUDE}",
        _bedrock,
        checks.bedrock_token(KEY, _CLAUDE),
        checks.bedrock_token(KEY, _CLAUDE, "converse-stream"),
        _EVENTS,
    ),
    "bedrock-anthropic": Place(
        f"bedrock-anthropic/{_CLAUDE}",
        _bedrock,
        checks.bedrock_token(KEY, _CLAUDE, "invoke"),
        checks.bedrock_token(KEY, _CLAUDE, "invoke-with-response-stream"),
        _EVENTS,
    ),
}


class Peer(FakeProvider):
    """One fake for all formats and scenarios: ``brain`` is who answers just now."""

    def __init__(self) -> None:
        super().__init__(anything, ())
        self.brain: Brain | None = None

    @override
    def respond(self, request: Received) -> Sent:
        assert self.brain is not None
        return self.brain.respond(request)


class Canned(ToolConnection):
    """A server in memory: its tools answer what they were given to answer. ``made`` are the calls that came."""

    def __init__(self, name: str, tools: Mapping[str, Tool], made: list[tuple[str, str, Any]]) -> None:
        super().__init__(ServerSpec(name), 1.0)
        self._canned = tools
        self._made = made

    @property
    @override
    def specs(self) -> list[ToolSpec]:
        name = self.spec.name
        return [
            ToolSpec(name, tool.name, tool.description, tool.schema, tool.output_schema, tool.strict)
            for tool in self._canned.values()
        ]

    @override
    async def call(self, name: str, arguments: Mapping[str, Any], **options: Any) -> Answer:
        self._made.append((self.spec.name, name, dict(arguments)))
        answer = self._canned[name].answer
        if isinstance(answer, Exception):
            raise answer
        return answer


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
        made: list[tuple[str, str, Any]] = []
        servers: dict[str, dict[str, Tool]] = {}
        for tool in scenario.tools:
            servers.setdefault(tool.server, {})[tool.name] = tool
        toolbox = Toolbox(Canned(name, tools, made) for name, tools in servers.items())
        transcript = list(scenario.history)
        problems: list[str] = []
        for number, each in enumerate(scenario.rounds, start=1):
            found = await self._round(each, toolbox, transcript, made, stream=stream)
            problems += [f"round {number}: {problem}" for problem in found]
        return problems

    async def _round(
        self, each: Round, toolbox: Toolbox, transcript: list[Message], made: list[Any], *, stream: bool
    ) -> list[str]:
        place = self._place
        check = place.streamed if stream else place.whole
        brain = Brain(self._wire, check, place.content_type, each.turns, toolbox.tools)
        self._peer.brain = brain
        made.clear()
        question = Question(each.question, self._model, stream=stream, **each.options)
        with anyio.fail_after(10):
            try:
                events = [event async for event in run(question, self._provider, toolbox, transcript)]
            except Exception as error:
                return [*brain.problems, f"the run raised {error!r}"]
        problems = [*brain.problems, *_compared(each, events, made)]
        if brain.left:
            problems.append(f"{brain.left} turns were never asked for")
        if loads(dumps(transcript)) != transcript:
            problems.append("the transcript is another after it is saved and loaded")
        return problems


def _compared(each: Round, events: list[Event], made: list[Any]) -> list[str]:
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
    problems = [f"{what} {got!r}, not {wanted!r}" for what, (got, wanted) in expected.items() if got != wanted]
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
