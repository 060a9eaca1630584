"""Tools in the system prompt, calls in the text."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.formats import TOOLS, Wire
from tests.support.outcomes import PNG, failed, image, said, succeeded
from tests.support.wires.openai import answer
from toolspan_bridge.formats import (
    builtin_names,
    format_names,
    get_format,
    prompt,
)
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.formats.prompt.call_scanner import CallScanner
from toolspan_bridge.formats.prompt.wordings import DEFAULT, WORDINGS
from toolspan_bridge.formats.shared.replies.parse import WireCall
from toolspan_bridge.messages import (
    Assistant,
    Reply,
    Request,
    ToolCall,
    ToolResults,
    User,
)

pytestmark = pytest.mark.requirement("I5.1.7")

NAMES = NameTable.of(TOOLS)
CALL = '{"name": "s__time", "arguments": {"zone": "UTC"}}'


def render(*messages: Any, **options: Any) -> list[dict[str, Any]]:
    options = {"tools": TOOLS, **options}
    body = prompt.render_request(Request("m", messages, **options), NAMES)
    Wire("prompt").rules.check_request(body)
    return list(body["messages"])


def read(text: str) -> Reply:
    return prompt.parse_reply(answer(text))


def test_tools_are_told_in_the_system_prompt() -> None:
    system, user = render(User("hi"), system="Be brief.")
    assert user == {"role": "user", "content": "hi"}
    assert system["content"] == (
        "Be brief.\n\n# Tools\n\nYou can call one or more of these tools, each described by a line of "
        "JSON:\n\n"
        '<tools>\n{"type":"function","function":{"name":"s__time","description":"",'
        '"parameters":{"type":"object","properties":{}}}}\n'
        '{"type":"function","function":{"name":"s__weather","description":"Tells the weather",'
        '"parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}\n</tools>\n\n'
        "To call a tool, end your answer with a block like this, one for each call, "
        "and wait for the result:\n\n"
        '<tool_call>\n{"name": "NAME", "arguments": {}}\n</tool_call>\n\n'
        "When you need no tool, answer without a block."
    )


def test_tools_may_be_told_in_sections_of_their_own() -> None:
    assert get_format("prompt.tools-first:openai").render_tools(TOOLS, NAMES) == (
        "# Tools\n\nYou can call these tools:\n\n"
        '## s__time\nArguments: {"type":"object","properties":{}}\n\n'
        "## s__weather\nTells the weather\n"
        'Arguments: {"type":"object","properties":{"city":{"type":"string"}}}\n\n'
        "# How to call a tool\n\nTo call a tool, end your answer with a block like this, one for each call, "
        'and wait for the result:\n\n<tool_call>\n{"name": "NAME", "arguments": {}}\n</tool_call>\n\n'
        "The arguments are a JSON object by the tool's JSON Schema. "
        "When you need no tool, answer without a block."
    )


@pytest.mark.requirement("I11.4.2")
@pytest.mark.parametrize("name", WORDINGS)
def test_every_wording_tells_of_every_tool_and_of_the_form_of_a_call(name: str) -> None:
    told = get_format(f"prompt.{name}:openai").render_tools(TOOLS, NAMES)
    for tool in TOOLS:
        assert NAMES.wire(tool) in told
        assert tool.description in told
        assert json.dumps(tool.schema.get("properties", {}), separators=(",", ":")) in told
    (call,) = read(told[told.index("<tool_call>") : told.index("</tool_call>") + 12]).message.calls
    assert call.name == "NAME"


@pytest.mark.requirement("I11.4.2")
def test_the_default_wording_shows_no_form_of_results_which_models_would_write_themselves() -> None:
    told = prompt.render_tools(TOOLS, NAMES)
    assert told == get_format(f"prompt.{DEFAULT}:openai").render_tools(TOOLS, NAMES)
    assert "tool_result" not in told


@pytest.mark.requirement("I11.4.2")
def test_a_wording_is_of_the_prompt_format_only_over_any_other() -> None:
    request = Request("m", (User("hi"),), tools=TOOLS)
    body = get_format("prompt.json-tools:anthropic").render_request(request, NAMES)
    Wire("anthropic").rules.check_request(body)
    assert "<tools>" in json.dumps(body["system"])


def test_without_tools_nothing_is_told_of_them() -> None:
    assert render(User("hi"), tools=()) == [{"role": "user", "content": "hi"}]
    assert render(User("hi"), tool_choice="none") == [{"role": "user", "content": "hi"}]
    assert prompt.render_tools((), NameTable.of(())) == ""


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"tool_choice": "required"}, "Answer with a call of one of the tools."),
        ({"tool_choice": ("s", "time")}, "Answer with a call of the tool s__time."),
        ({"parallel": False}, "Make at most one call in an answer."),
    ],
)
def test_what_the_api_cannot_enforce_is_asked_for(options: dict[str, Any], told: str) -> None:
    assert render(User("hi"), **options)[0]["content"].endswith(f"\n\n{told}")


def test_calls_and_results_of_the_past_are_text() -> None:
    calls = (ToolCall("c1", "s__time", {"zone": "UTC"}), ToolCall("c2", "s__weather", None, raw='{"city": '))
    results = ToolResults((succeeded(said("12:00 </tool_result>"), image()), failed(call_id="c2")))
    _, _, told, answered = render(User("hi"), Assistant("So.", calls), results)
    assert told == {
        "role": "assistant",
        "content": "So.\n\n"
        '<tool_call>\n{"name":"s__time","arguments":{"zone":"UTC"}}\n</tool_call>\n\n'
        '<tool_call>\n{"city": \n</tool_call>',
    }
    text, picture = answered["content"]
    assert text["text"] == (
        '<tool_result name="s__time">\n12:00 <\\/tool_result>\n\n[image/png follows below]\n</tool_result>\n'
        '<tool_result name="s__weather">\n[tool error] it broke\n</tool_result>'
    )
    assert picture["image_url"]["url"].endswith(PNG)


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{CALL}</tool_call>",
        f"Sure! <tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}",
        f"```json\n{CALL}\n```",
        f"```\n{CALL}\n```",
        f"  ```tool_call\n  {CALL}\n  ```",
        f"````json\n{CALL}\n````",
        f"```json\n{CALL}",
        f"<tool_call>\n```json\n{CALL}\n```\n</tool_call>",
        f"```\n<tool_call>{CALL}</tool_call>\n```",
        CALL,
        f"[{CALL}]\n",
        CALL.replace("arguments", "parameters"),
        CALL.replace('{"zone": "UTC"}', json.dumps('{"zone": "UTC"}')),
        f'<tool_call>{{"type": "function", "function": {CALL}}}</tool_call>',
        f"<think>Which? <tool_call>no</tool_call></think>\n{CALL}".replace(
            CALL, f"<tool_call>{CALL}</tool_call>"
        ),
    ],
)
def test_a_call_is_found(text: str) -> None:
    (call,) = read(text).message.calls
    assert (call.name, call.arguments) == ("s__time", {"zone": "UTC"})


@pytest.mark.parametrize(
    "text",
    [
        f"```python\n{CALL}\n```",
        f"```python\n<tool_call>{CALL}</tool_call>\n```",
        f"Write `<tool_call>{CALL}</tool_call>`.",
        f"Well: <think><tool_call>{CALL}</tool_call></think>Done.",
        f"Like this: {CALL}",
        '```json\n{"name": "Oslo", "people": 700000}\n```',
        '```json\n{"name": "x", "arguments": {}, "more": 1}\n```',
        '```json\n[{"name": "x", "arguments": {}}, 7]\n```',
        '```\ns__time(zone="UTC")\n```',
        "```json\n[]\n```",
        "```\n```",
        "a </tool_call> b",
        '{"name": "Oslo"}',
        "if a <tool and b",
    ],
)
def test_what_only_looks_like_a_call_is_text(text: str) -> None:
    reply = read(text)
    assert reply.message == Assistant(text)


@pytest.mark.requirement("I12.5.57")
@pytest.mark.parametrize("calls", [CALL, f"{CALL}\n{CALL}", f"[{CALL}, {CALL}]"])
@pytest.mark.parametrize("words", ["I look it up.", "That is `{}`.\n\n```json\n{}\n```"])
def test_words_after_a_call_without_tags_leave_it_a_call(calls: str, words: str) -> None:
    reply = read(f"{calls}\n\n{words}")
    assert [(call.name, call.arguments) for call in reply.message.calls] == [
        ("s__time", {"zone": "UTC"})
    ] * calls.count("s__time")
    assert reply.message.text == words


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (CALL + '\n{"name": "s__time", "arguments": {', "s__time"),
        ('<tool_call>{"name": "s__time", "arguments": {"zone": }}</tool_call>', "s__time"),
        ("<tool_call>s__time()</tool_call>", ""),
        ("```tool_call\ns__time()\n```", ""),
        ('```json\n{"name": "s__time", "arguments": {"zone"\n```', "s__time"),
        ('{"name": "s__time", "arguments": {', "s__time"),
    ],
)
def test_a_call_that_cannot_be_read_is_given_back_to_the_model(text: str, name: str) -> None:
    (call,) = read(text).message.calls
    assert (call.name, call.arguments) == (name, None)
    assert "not valid JSON" in call.malformed and call.raw.strip() in text
    told = render(User("hi"), read(text).message)[2]["content"]
    assert call.raw in told


@pytest.mark.requirement("I25.1.4")
@pytest.mark.parametrize(
    "value", ["a </tool_call> b", "</tool_call>", '"</tool_call>"', "</tool_call>" * 3, "</tool_call>" * 500]
)
def test_a_text_of_a_call_may_hold_the_end_of_the_call(value: str) -> None:
    written = json.dumps({"name": "s__time", "arguments": {"zone": value}})
    text = f"So. <tool_call>\n{written}\n</tool_call>"
    (call,) = read(text).message.calls
    assert call.arguments == {"zone": value}
    assert found(list(text)) == found([text])


@pytest.mark.requirement("I25.1.3")
@pytest.mark.parametrize(
    "thoughts",
    [
        f"[THINK]{CALL}[/THINK]",
        f"Well: <seed:think><tool_call>{CALL}</tool_call></seed:think>",
        f"{CALL}</think>",
    ],
)
def test_a_call_in_thoughts_of_any_tags_is_none(thoughts: str) -> None:
    assert not read(f"{thoughts}\n\nHi.").message.calls


def test_a_call_without_a_name_is_no_call_of_any_tool() -> None:
    (call,) = read('<tool_call>{"tool": "s__time", "zone": "UTC"}</tool_call>').message.calls
    assert call.name == ""


def test_several_calls_and_the_text_around_them_keep_their_order() -> None:
    reply = read(f"First\n\n<tool_call>{CALL}</tool_call>\n\nthen\n```json\n[{CALL}, {CALL}]\n```\n\nall. ")
    assert reply.message.text == "First\n\nthen\n\nall."
    assert len({call.id for call in reply.message.calls}) == 3


@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "<tool_call>\n{}\n</tool_call>"])
def test_calls_one_after_the_other_in_one_block_are_several(around: str) -> None:
    reply = read(around.format(f"{CALL}\n{CALL}"))
    assert [call.arguments for call in reply.message.calls] == [{"zone": "UTC"}] * 2
    assert reply.message.text == ""


def test_a_call_in_doubled_braces_is_that_call() -> None:
    (call,) = read(f"<tool_call>\n{{{CALL}}}\n</tool_call>").message.calls
    assert (call.name, call.arguments) == ("s__time", {"zone": "UTC"})


MARKS = ("<tool_call>", "</tool_call>", "<think>", "</think>", "```", "\n```\n", "`", "<", '{"name":')
WORDS = (CALL, "json\n", "py", "text", "\n", " ")


@pytest.mark.parametrize(
    "text",
    [
        "```<tool_call><tool_call>\n```\n",
        f"a\n ```json\n{CALL}\n ```b",
        f"``` json\n{CALL}\n```",
        f"`<tool_call>{CALL}</tool_call><tool_call>{CALL}</tool_call>",
        f" \n{CALL[:20]} {CALL}",
        "<tool_call></tool_call>```<tool_call><tool_call>\n```\n",
    ],
)
def test_the_same_is_found_character_by_character(text: str) -> None:
    assert found(list(text)) == found([text])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(MARKS + WORDS), max_size=10), st.data())
def test_the_same_is_found_whatever_the_pieces(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    edges = [0, *places, len(text)]
    parts = [text[start:end] for start, end in pairwise(edges)]
    whole, cut = found([text]), found(parts)
    assert whole == cut
    assert found(list(text)) == whole


def found(pieces: list[str]) -> list[Any]:
    """Calls, and the text between them as one."""
    scanner = CallScanner()
    parts = [part for piece in pieces for part in scanner.feed(piece)] + scanner.close()
    merged: list[Any] = [""]
    for part in parts:
        if isinstance(part, WireCall):
            merged += [part, ""]
        else:
            merged[-1] += part
    return merged


@pytest.mark.parametrize("base", [name for name in format_names() if name != "prompt"])
def test_prompt_stands_over_every_other_format(base: str) -> None:
    wire, over = Wire(base), get_format(f"prompt:{base}")
    text = f"Let me see. <tool_call>{CALL}</tool_call>"
    reply = over.parse_reply(wire.answers.answer(text))
    parser = over.parse_stream()
    for frame in wire.answers.frames(text):
        parser.feed(frame)
    streamed = parser.end()
    for each in (reply, streamed):
        (call,) = each.message.calls
        assert (each.message.text, call.name, call.arguments) == ("Let me see.", "s__time", {"zone": "UTC"})
    history = (User("hi"), reply.message, ToolResults((succeeded(said("12:00"), image(), call_id=call.id),)))
    body = over.render_request(
        Request("m", history, tools=TOOLS, tool_choice="required", parallel=False), NAMES
    )
    wire.rules.check_request(body)
    sent = json.dumps(body)
    assert "tools" not in body and "toolConfig" not in body and PNG in sent and "12:00" in sent
    assert builtin_names(f"prompt:{base}") == builtin_names(base)


def test_prompt_over_itself_or_nothing_is_no_format() -> None:
    for name in ("prompt:prompt", "prompt:", "prompt:fax", "openai:ollama"):
        with pytest.raises(KeyError):
            get_format(name)
        assert builtin_names(name) == frozenset()
