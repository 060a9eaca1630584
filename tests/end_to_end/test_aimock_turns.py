"""Later turns of conversations, as a mock that no one here wrote reads them from the wire of every format.

It comes from npm: set TOOLSPAN_NODE_TESTS=1 to let the test install it into ``.venv/conformance``.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.aimock import aimock, call, fixture, in_two_legs, last_heard
from tests.support.provider_settings import instant
from tests.support.recordings import recordings
from tests.support.scenarios import PLACES, canned
from tests.support.scenarios.servers import Made
from tests.support.scenarios.tools import TOOLS
from tests.support.waiting import BOUND_S
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.errors import BridgeError
from toolspan_bridge.events import Answer
from toolspan_bridge.loop import Question, answer
from toolspan_bridge.providers import Provider, resolve_model
from toolspan_bridge.providers.wire.provider import WireProvider
from toolspan_bridge.providers.wire.recording import Recorder
from toolspan_bridge.providers.wire.two_wires import TwoWires
from toolspan_bridge.toolbox import Toolbox

pytestmark = [pytest.mark.long, pytest.mark.anyio, pytest.mark.node, pytest.mark.requirement("I11.5.4")]

NATIVE = [name for name in PLACES if name != "prompt"]
WAYS = [
    pytest.param(name, stream, id=f"{name}-{'streamed' if stream else 'whole'}")
    for name in NATIVE
    for stream in (False, True)
    # aimock 1.43.0: events of InvokeModel are bare instead of {"bytes"}
    if not (stream and name == "bedrock-anthropic")
]
# aimock 1.43.0 fails on a cache point among the tools of Converse: this Claude has none.
MODELS = {
    "bedrock": "bedrock/anthropic.claude-3-sonnet-20240229-v1:0",
    "deepseek": "deepseek/deepseek-reasoner",
}
THOUGHT = "let me think of it"
# aimock 1.43.0 signs no thoughts of Converse and tells Ollama's by another name
THINKING = [
    *(
        way
        for way in WAYS
        if way.values[0] in ("openai-responses", "anthropic", "gemini", "bedrock-anthropic")
    ),
    pytest.param("deepseek", False, id="deepseek-whole"),
    pytest.param("deepseek", True, id="deepseek-streamed"),
]
OSLO, BERGEN = (call("s__weather", {"city": city}, f"call_{city}") for city in ("Oslo", "Bergen"))
NOON = call("s__time", {}, "call_noon")
FAULTS = {"drop": "dropRate", "malformed": "malformedRate", "busy": "rateLimitRate", "cut": "disconnectRate"}
FIXTURES = [
    *in_two_legs("first", {"reasoning": THOUGHT, "toolCalls": [OSLO]}, "Tromsø", "Snow there."),
    *in_two_legs("second", {"content": "I look.", "toolCalls": [BERGEN, NOON]}, "noon", "Both now."),
    fixture("third", {"content": "Nothing more."}),
    *(
        {**each, "chaos": {rate: 1} if each["match"]["hasToolResult"] else {}}
        for fault, rate in FAULTS.items()
        for each in in_two_legs(f"{fault} after", {"toolCalls": [OSLO]}, "Tromsø", "never said")
    ),
    *(
        {**fixture(f"{fault} before", {"content": "never said"}), "chaos": {rate: 1}}
        for fault, rate in FAULTS.items()
    ),
]
SNOW = "7 °C and snow in Tromsø"
OSLO_TOLD = {"called": "s__weather", "with": {"city": "Oslo"}, "result": SNOW}
FIRST = [{"user": "first"}, OSLO_TOLD, {"assistant": "Snow there."}]
SECOND = [
    {"user": "second"},
    {"assistant": "I look."},
    {"called": "s__weather", "with": {"city": "Bergen"}, "result": SNOW},
    {"called": "s__time", "with": {}, "result": "It is noon"},
    {"assistant": "Both now."},
]


class Talk:
    """A conversation with the mock at ``base``. ``made`` are the calls that came to the tools."""

    def __init__(self, base: str, name: str, provider: Provider, model: str, stream: bool) -> None:
        self.made: list[Made] = []
        self.conversation = Conversation()
        self._base = base
        self._name = name
        self._provider = provider
        self._model = model
        self._stream = stream

    async def ask(self, text: str) -> Answer:
        question = Question(text, self._model, stream=self._stream)
        with anyio.fail_after(BOUND_S):
            return await answer(
                question, self._provider, Toolbox(canned(TOOLS, self.made)), self.conversation
            )

    def heard(self) -> list[dict[str, Any]]:
        """What the mock read in the last request, in one shape for all wires; each result stands after its
        call."""
        return list(_told(last_heard(self._base), ids=self._name != "ollama"))


def _told(messages: list[dict[str, Any]], *, ids: bool) -> Iterator[dict[str, Any]]:
    open_calls: list[dict[str, Any]] = []
    asked_before: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "tool":
            yield _answered(open_calls.pop(0), message, ids=ids)
        elif message["role"] == "user" and open_calls:
            # aimock 1.43.0 reads the text of a message of Anthropic's before the results in front of it
            asked_before.append(message)
        elif message.get("content"):
            yield {message["role"]: message["content"]}
        open_calls += message.get("tool_calls", ())
        if not open_calls:
            yield from ({"user": each["content"]} for each in asked_before)
            asked_before = []
    assert not open_calls, "a call without its result"


def _answered(made: dict[str, Any], message: dict[str, Any], *, ids: bool) -> dict[str, Any]:
    """A call with its result; Gemini's are objects."""
    assert not ids or message["tool_call_id"] == made["id"]
    content, function = message["content"], made["function"]
    result = json.loads(content)["output"] if content.startswith("{") else content
    return {"called": function["name"], "with": json.loads(function["arguments"]), "result": result}


def variables(name: str, base: str) -> Mapping[str, str]:
    if name == "deepseek":
        return {"DEEPSEEK_API_KEY": "sk-scenario", "DEEPSEEK_BASE_URL": f"{base}/v1"}
    return PLACES[name].variables(base)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with aimock(FIXTURES, tmp_path_factory.mktemp("aimock")) as url:
        yield url


Talks = Callable[[str, bool], AbstractAsyncContextManager[Talk]]


@pytest.fixture
def talks(base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Talks:
    @asynccontextmanager
    async def begun(name: str, stream: bool) -> AsyncGenerator[Talk]:
        for variable, value in variables(name, base).items():
            monkeypatch.setenv(variable, value)
        provider, model = resolve_model(MODELS.get(name) or PLACES[name].model, instant())
        assert isinstance(provider, WireProvider | TwoWires)
        provider.recorded(Recorder(tmp_path, str))
        async with aclosing(provider):
            yield Talk(base, name, provider, model, stream)

    return begun


@pytest.mark.parametrize(("name", "stream"), WAYS)
async def test_the_third_question_brings_every_call_and_result_of_the_first_two(
    name: str, stream: bool, talks: Talks
) -> None:
    async with talks(name, stream) as talk:
        assert (await talk.ask("first")).content == "Snow there."
        assert (await talk.ask("second")).content == "Both now."
        assert (await talk.ask("third")).content == "Nothing more."
        assert talk.heard() == [*FIRST, *SECOND, {"user": "third"}]
    assert [tool for _, tool, _ in talk.made] == ["weather", "weather", "time"]


@pytest.mark.parametrize(("name", "stream"), THINKING)
async def test_thoughts_go_back_with_the_results_of_their_calls(
    name: str, stream: bool, talks: Talks, tmp_path: Path
) -> None:
    async with talks(name, stream) as talk:
        await talk.ask("first")
    asked, with_results = recordings(tmp_path)
    assert THOUGHT not in json.dumps(asked.body)
    assert json.dumps(with_results.body).count(THOUGHT) == 1


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("name", "stream"), WAYS)
async def test_a_fault_within_a_conversation_is_one_clear_error_and_the_conversation_goes_on(
    name: str, stream: bool, fault: str, when: str, talks: Talks
) -> None:
    async with talks(name, stream) as talk:
        await talk.ask("first")
        with pytest.raises(BridgeError) as caught:
            await talk.ask(f"{fault} {when}")
        assert len(talk.made) == (2 if when == "after" else 1), "no call is made twice"
        assert "\n" not in str(caught.value) and name.split("-")[0] in str(caught.value)
        assert (await talk.ask("third")).content == "Nothing more."
        kept = [{"user": f"{fault} after"}, OSLO_TOLD] if when == "after" else []
        assert talk.heard() == [*FIRST, *kept, {"user": "third"}]
