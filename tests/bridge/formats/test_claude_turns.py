"""Claude's second turns, at Anthropic and in Bedrock: what came goes back, and what was sent stays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.formats import Wire
from tests.support.outcomes import JPEG, image, said, succeeded
from tests.support.provider_rules import anthropic as anthropic_rules
from tests.support.provider_rules import bedrock_anthropic as bedrock_rules
from tests.support.wires import anthropic as wire
from tests.support.wires import bedrock_anthropic as bedrock_wire
from tests.support.wires.anthropic import CITED, FOUND, SEARCH, THOUGHT, USE, events, message
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.formats import get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import (
    Assistant,
    Citation,
    Message,
    Part,
    Reply,
    Request,
    ToolResults,
    ToolSpec,
    User,
    WireOptions,
)

TOOL = ToolSpec("s", "weather", "d", {"type": "object", "properties": {"city": {"type": "string"}}})
TEXT = {"type": "text", "text": "So it is."}
MODEL = "claude-opus-5-5"
RESULTS = ToolResults((succeeded(said("7 degrees"), call_id="c1"),))

PNG_3000 = "iVBORw0KGgoAAAANSUhEUgAAC7gAAAABCAIAAAD6dp0MAAAAAElFTkSuQmCC"


class Claude:
    """One of the formats; ``read`` gives an answer's reply, whole or streamed."""

    def __init__(self, name: str, *, streamed: bool) -> None:
        self.name, self._streamed = name, streamed
        self.format = get_format(name)

    def read(self, body: dict[str, Any]) -> Reply:
        if not self._streamed:
            return self.format.parse_reply(body)
        frame = wire.sse if self.name == "anthropic" else bedrock_wire.chunk
        parser = self.format.parse_stream()
        for event in events(body):
            parser.feed(frame(event))
        return parser.end()

    def body(self, *messages: Message, model: str = MODEL, **options: Any) -> dict[str, Any]:
        options = {"tools": (TOOL,), "cache": False, **options}
        asked = Request(model=model, messages=messages, **options)
        body = self.format.render_request(asked, NameTable.of(asked.tools))
        if self.name == "anthropic":
            anthropic_rules.check_request(body)
        else:
            bedrock_rules.check_request(body, model)
        return body

    def sent(self, *messages: Message, **options: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body(*messages, **options)["messages"]
        return found


@pytest.fixture(params=["anthropic", "bedrock-anthropic"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["whole", "streamed"])
def claude(request: pytest.FixtureRequest, name: str) -> Claude:
    return Claude(name, streamed=request.param == "streamed")


def kinds(sent: dict[str, Any]) -> list[str]:
    return [block["type"] for block in sent["content"]]


@pytest.mark.requirement("I11.1.6")
def test_a_paused_turn_and_what_went_on_with_it_are_one(claude: Claude) -> None:
    paused = claude.read(message(THOUGHT, SEARCH, stop="pause_turn")).message
    gone_on = claude.read(message(FOUND, CITED)).message
    sent = claude.sent(User("hi"), paused, gone_on, User("and now?"))
    assert sent[1] == {"role": "assistant", "content": [THOUGHT, SEARCH, FOUND, CITED]}
    assert len(sent) == 3


@pytest.mark.requirement("I11.1.6")
def test_a_turn_that_paused_twice_and_then_calls_is_one(claude: Claude) -> None:
    second = {**SEARCH, "id": "srvtoolu_2"}
    parts = [
        claude.read(message(THOUGHT, SEARCH, stop="pause_turn")),
        claude.read(message(FOUND, second, stop="pause_turn")),
        claude.read(message({**FOUND, "tool_use_id": "srvtoolu_2"}, USE, stop="tool_use")),
    ]
    said = [part.message for part in parts]
    waiting = claude.sent(User("hi"), *said[:2])
    assert kinds(waiting[-1]) == ["thinking", "server_tool_use", "web_search_tool_result", "server_tool_use"]
    sent = claude.sent(User("hi"), *said, RESULTS)
    assert kinds(sent[1]) == [*kinds(waiting[-1]), "web_search_tool_result", "tool_use"]
    assert kinds(sent[2]) == ["tool_result"]
    loaded = Conversation.from_json(Conversation([User("hi"), *said, RESULTS]).to_json())
    assert claude.sent(*loaded.messages) == sent


@pytest.mark.requirement("I11.1.6")
def test_a_paused_turn_that_nobody_went_on_with_keeps_what_is_whole(claude: Claude) -> None:
    paused = claude.read(message(THOUGHT, TEXT, SEARCH, stop="pause_turn")).message
    assert claude.sent(User("hi"), paused, User("never mind"))[1]["content"] == [THOUGHT, TEXT]


@pytest.mark.requirement("I11.1.6")
def test_a_paused_turn_is_gone_on_with_elsewhere_and_back(claude: Claude) -> None:
    paused = claude.read(message(THOUGHT, TEXT, SEARCH, stop="pause_turn")).message
    gone_on = claude.read(message(FOUND, USE, stop="tool_use")).message
    history = (User("hi"), paused, gone_on, RESULTS)
    Wire("openai").render(*history, tools=(TOOL,))
    elsewhere = (*history, Assistant("Seven."), User("sure?"))
    assert claude.sent(*elsewhere)[:3] == claude.sent(*history)


@pytest.mark.requirement("I11.1.10")
@pytest.mark.parametrize("stop", ["refusal", "max_tokens", "model_context_window_exceeded"])
def test_calls_of_a_turn_that_was_refused_or_cut_are_set_aside(claude: Claude, stop: str) -> None:
    reply = claude.read(message(THOUGHT, TEXT, USE, stop=stop))
    assert reply.message.calls == () and [call.name for call in reply.cut_calls] == ["s__weather"]
    sent = claude.sent(User("hi"), reply.message, User("go on"))
    assert sent[1]["content"] == [TEXT]


@pytest.mark.requirement("I11.1.5")
def test_each_request_begins_with_the_one_before(claude: Claude) -> None:
    shown = ToolResults((succeeded(*[image()] * 15, call_id="c1"),))
    history: list[Message] = [User("hi", (image(),))]
    before = claude.sent(*history)
    for number in range(12):
        use = {**USE, "id": f"c{number}"}
        turn = claude.read(message(THOUGHT, TEXT, use, stop="tool_use")).message
        result = ToolResults((succeeded(*shown.outcomes[0].parts, call_id=f"c{number}"),))
        history += [turn, result]
        sent = claude.sent(*history)
        assert sent[: len(before)] == before
        before = sent
    most = 100 if claude.name == "anthropic" else 20
    assert json.dumps(before).count('"type": "image"') == most


@pytest.mark.requirement("I11.1.5")
@pytest.mark.parametrize("wide", [image(PNG_3000), image(JPEG, "image/jpeg")], ids=["wide", "unreadable"])
def test_of_more_than_twenty_images_none_may_be_wide(wide: Part) -> None:
    claude = Claude("anthropic", streamed=False)
    early = claude.sent(User("hi", (wide, *[image()] * 30)))
    late = claude.sent(User("hi", (*[image()] * 30, wide)))
    assert kinds(early[0]).count("image") == 20
    assert kinds(late[0]).count("image") == 30


@pytest.mark.requirement("I11.1.5")
def test_thoughts_that_do_not_fit_are_dropped_only_when_asked(claude: Claude) -> None:
    thought = claude.read(message(THOUGHT, TEXT)).message
    history = (User("hi"), thought, User("and?"))
    assert "block_binding" not in claude.body(*history)["thinking"]
    body = claude.body(*history, wire=WireOptions(drop_unbound=True))
    assert body["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
    old = claude.body(*history, model="claude-sonnet-4-5", wire=WireOptions(drop_unbound=True))
    assert "thinking" not in old


@pytest.mark.requirement("I11.3.20")
def test_a_message_that_starts_twice_is_whole(name: str) -> None:
    claude = Claude(name, streamed=True)
    frame = wire.sse if name == "anthropic" else bedrock_wire.chunk
    body = message(THOUGHT, USE, stop="tool_use")
    first, *rest = events(body)
    parser = claude.format.parse_stream()
    for event in [first, first, *rest]:
        parser.feed(frame(event))
    assert parser.end() == claude.format.parse_reply(body)


@pytest.mark.requirement("I11.3.5")
def test_sources_are_placed_in_the_text(claude: Claude) -> None:
    page = {
        "type": "char_location",
        "cited_text": "It is cold.",
        "document_index": 0,
        "document_title": "Report",
        "start_char_index": 0,
        "end_char_index": 11,
    }
    nameless = {**page, "document_title": None}
    second = {"type": "text", "text": " And cold.", "citations": [page, nameless]}
    reply = claude.read(message(THOUGHT, SEARCH, FOUND, TEXT, CITED, second))
    assert reply.message.text == "So it is.It snows. And cold."
    assert reply.message.citations == (
        Citation("https://a.test", "A", 9, 18, "snow"),
        Citation("", "Report", 18, 28, "It is cold."),
    )
    if claude.name == "anthropic":
        sent = claude.sent(User("hi"), reply.message, User("and?"), builtins=("web_search",))
        assert sent[1]["content"][-2:] == [CITED, second]
    loaded = Conversation.from_json(Conversation([reply.message]).to_json())
    assert loaded.messages == [reply.message]
