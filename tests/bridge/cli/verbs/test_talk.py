"""What goes with a question of ``ask`` and ``chat``, and what is kept of the answers."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import toolspan
from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.wire_peers import wires
from toolspan_bridge.cli.terminal.talk import Printer
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.events import (
    IterationStarted,
    Notice,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCallStarted,
    UsageReported,
)
from toolspan_bridge.messages import (
    Assistant,
    Message,
    ToolResults,
    Usage,
    User,
)

CONFIG = """
name: shop
responses:
  - match: {intent_regexp: news}
    llm: openai
    model: gpt-4o-search-preview
    tools: {allowed_tools: [calculate, "builtin:web_search"]}
tools:
  registry:
    - name: calculate
      description: Evaluate a mathematical expression
      parameters:
        type: object
        properties: {expression: {type: string, description: Math expression}}
        required: [expression]
      implementation: {type: builtin, handler: math_eval}
"""
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
CALL = {"calls": [{"tool": "calculate", "arguments": {"expression": "6*7"}}], "text": "Let me see."}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "cat.png").write_bytes(PNG)
    return tmp_path


def script(folder: Path, *turns: dict[str, Any], name: str = "script.yaml") -> str:
    (folder / name).write_text(yaml.safe_dump({"turns": list(turns)}))
    return f"scripted/{folder / name}"


@pytest.fixture
def openai(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    return monkeypatch


def whole(text: str) -> Sent:
    return Sent(wires("openai").answer(text))


def saved_messages(folder: Path) -> list[Message]:
    return Conversation.load(folder / "talk.json").messages


@pytest.mark.requirement("I5.1.3")
def test_a_chat_is_saved_and_resumed_with_another_model(shop: Path) -> None:
    ran = toolspan(
        "chat",
        "--save",
        "talk.json",
        "-m",
        script(shop, CALL, {"text": "42."}),
        cwd=shop,
        stdin="six times seven?\n",
    )
    assert (ran.code, ran.out) == (0, "42.\n")
    first = saved_messages(shop)
    assert [type(message) for message in first] == [User, Assistant, ToolResults, Assistant]
    again = ("chat", "--resume", "talk.json", "--save", "talk.json", "-m", "offline/keyword")
    assert toolspan(*again, cwd=shop, stdin="And what is 1+1?\n").out.startswith("calculate: 2")
    assert saved_messages(shop)[: len(first)] == first
    assert saved_messages(shop)[4] == User("And what is 1+1?")


@pytest.mark.requirement("I5.1.3")
def test_a_conversation_is_not_written_over_another_file(shop: Path) -> None:
    ran = toolspan("chat", "--save", "toolspan.yaml", cwd=shop, stdin="hi\n")
    assert ran.code == 2 and "toolspan.yaml exists already" in ran.err
    assert (shop / "toolspan.yaml").read_text() == CONFIG
    ran = toolspan("chat", "--resume", "toolspan.yaml", cwd=shop)
    assert ran.code == 2 and "the conversation toolspan.yaml cannot be read" in ran.err
    assert toolspan("chat", "--save", "no/where.json", cwd=shop).code == 2


@pytest.mark.requirement("I5.1.3")
def test_slash_save_keeps_what_was_said_and_all_that_follows(shop: Path) -> None:
    model = script(shop, {"text": "one"}, {"text": "two"})
    ran = toolspan("chat", "-m", model, cwd=shop, stdin="first\n/save talk.json\nsecond\n/exit\n")
    assert "the conversation is kept in talk.json" in ran.err
    texts = [message.text for message in saved_messages(shop) if not isinstance(message, ToolResults)]
    assert texts == ["first", "one", "second", "two"]


@pytest.mark.requirement("I5.1.3")
def test_what_was_said_before_a_failure_is_kept(shop: Path) -> None:
    model = script(shop, CALL, {"error": {"message": "overloaded"}})
    assert toolspan("chat", "--save", "talk.json", "-m", model, cwd=shop, stdin="6*7?\n").code == 1
    assert [type(message) for message in saved_messages(shop)] == [
        User,
        Assistant,
        ToolResults,
    ]


@pytest.mark.requirement("I5.1.4")
def test_images_go_to_the_model_with_their_true_type(shop: Path, openai: pytest.MonkeyPatch) -> None:
    (shop / "cat.txt").write_bytes(b"\xff\xd8\xff\xe0" + bytes(9))
    with FakeProvider(anything, [whole("a cat")]) as fake:
        openai.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        Conversation().save(shop / "none.json")
        ran = toolspan(
            "ask", "What is it?", "--image", "cat.png", "--image", "cat.txt", "-m", "openai/m", cwd=shop
        )
    assert ran.out == "a cat\n"
    content = fake.received[0].body["messages"][-1]["content"]
    urls = [each["image_url"]["url"] for each in content if each["type"] == "image_url"]
    assert urls[0] == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert urls[1].startswith("data:image/jpeg;")


@pytest.mark.requirement("I5.1.4")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        (b"<svg/>", "is no PNG, JPEG, GIF or WebP"),
        (bytes(21_000_000), "is larger than"),
    ],
)
def test_what_is_no_image_is_refused_before_anything_is_asked(
    content: bytes | None, said: str, shop: Path
) -> None:
    if content is not None:
        (shop / "it").write_bytes(content)
    ran = toolspan("ask", "?", "--image", "it", cwd=shop)
    assert ran.code == 2 and said in ran.err


@pytest.mark.requirement("I5.1.4")
def test_images_of_a_chat_go_with_the_next_question_only(shop: Path) -> None:
    model = script(shop, {"text": "one"}, {"text": "two"}, {"text": "three"})
    stdin = "first\nsecond\n/image cat.png\nthird\n/save talk.json\n"
    assert toolspan("chat", "-m", model, "--image", "cat.png", cwd=shop, stdin=stdin).code == 0
    asked = [message for message in saved_messages(shop) if isinstance(message, User)]
    assert [len(message.parts) for message in asked] == [1, 0, 1]


@pytest.mark.requirement("I5.1.5")
def test_a_route_mixes_tools_and_what_the_provider_has_itself(shop: Path, openai: pytest.MonkeyPatch) -> None:
    with FakeProvider(anything, [whole("nothing new")]) as fake:
        openai.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        ran = toolspan("ask", "any news?", "--trust", cwd=shop)
    assert ran.out == "nothing new\n" and "toolspan: cost: $" in ran.err
    body = fake.received[0].body
    assert [tool["function"]["name"] for tool in body["tools"]] == ["shop__calculate"]
    assert "web_search_options" in body


@pytest.mark.requirement("I5.1.5")
def test_a_built_in_tool_is_asked_for_by_name_and_an_unknown_one_is_refused(shop: Path) -> None:
    ran = toolspan("ask", "hi", "--builtin", "web_search", "-m", script(shop, {"text": "hello"}), cwd=shop)
    assert ran.code == 0 and "note: scripted has no built-in tool 'web_search' here" in ran.err
    ran = toolspan("ask", "hi", "--builtin", "web_serch", cwd=shop)
    assert ran.code == 2 and "no provider has a built-in tool 'web_serch' (known: code_execution, " in ran.err
    (shop / "toolspan.yaml").write_text(CONFIG.replace("builtin:web_search", "builtin:telepathy"))
    ran = toolspan("ask", "1+1?", "--trust", cwd=shop)
    assert "$.responses[0].tools.allowed_tools: no provider has a built-in tool 'telepathy'" in ran.err


@pytest.mark.requirement("I5.1.2")
def test_an_answer_that_broke_off_is_printed_noted_and_no_success(shop: Path) -> None:
    model = script(shop, {"text": "It is", "incomplete": True})
    ran = toolspan("ask", "?", "-m", model, cwd=shop)
    assert (ran.code, ran.out) == (1, "It is\n")
    assert "note: The answer broke off" in ran.err
    ran = toolspan("ask", "?", "--json", "-m", model, "--trust", cwd=shop)
    assert (ran.code, ran.json["incomplete"], ran.err) == (1, True, "")


class LiveText:
    """A printer before a terminal; ``told`` is what stdout and stderr show together."""

    def __init__(self) -> None:
        self.screen = io.StringIO()
        self.printer = Printer(self.screen, live=self.screen)

    def show(self, *events: Any) -> str:
        for event in events:
            self.printer.show(event)
        return self.screen.getvalue()


@pytest.mark.requirement("I5.1.2")
def test_live_text_is_only_appended_and_notes_begin_on_lines_of_their_own() -> None:
    live = LiveText()
    shown = live.show(
        IterationStarted(1),
        ReasoningDelta("a"),
        ReasoningDelta("b"),
        TextDelta("Let me "),
        TextDelta("look."),
        UsageReported(Usage(), 1),
        Text("Let me look.", 1),
        ToolCallStarted("c", "s", "echo", {"n": 1}, 1),
    )
    assert shown == "thinking …\nLet me look.\n→ echo(n=1)\n"


@pytest.mark.requirement("I5.1.2")
def test_an_answer_that_was_shown_as_it_came_is_not_printed_again(capsys: pytest.CaptureFixture[str]) -> None:
    live = LiveText()
    end = (UsageReported(Usage(), 1), Text("done", 1))
    live.show(IterationStarted(1), TextDelta("do"), TextDelta("ne"), *end)
    live.printer.answer("done")
    assert (live.screen.getvalue(), capsys.readouterr().out) == ("done\n", "")


@pytest.mark.requirement("I5.1.2")
def test_a_turn_that_is_asked_for_again_is_not_taken_for_the_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    live = LiveText()
    live.show(IterationStarted(1), TextDelta("Let"), UsageReported(Usage(), 1), Notice("asked for again"))
    live.show(TextDelta("done"), UsageReported(Usage(), 1), Text("done", 1))
    live.printer.answer("done")
    assert live.screen.getvalue() == "Let\nnote: asked for again\ndone\n"
    live.printer.answer("something else")
    assert capsys.readouterr().out == "something else\n"


@pytest.mark.requirement("I5.1.2")
def test_a_model_cannot_move_the_cursor() -> None:
    assert LiveText().show(TextDelta("a\x1b[2Jb\r\x9bc\td\n")) == r"a\x1b[2Jb\r\x9bc" + "\td\n"
