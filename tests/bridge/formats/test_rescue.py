"""Calls of offered tools that a model printed as text, in the ways that models do."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.formats import TOOLS
from toolspan_bridge.formats.prompt.rescue import HeldText, rescued
from toolspan_bridge.formats.prompt.written_calls import Callables
from toolspan_bridge.messages import Assistant, Reply, Request, ToolCall, User

pytestmark = pytest.mark.requirement("I11.3.6")

ASKED = Request("m", (User("hi"),), tools=TOOLS)
ARGUMENTS = '{"city": "Oslo"}'
OBJECT = f'{{"name": "s__weather", "arguments": {ARGUMENTS}}}'


def calls_of(text: str, **more: Any) -> tuple[str, list[tuple[str, Any]]]:
    found = rescued(Reply(Assistant(text), **more), ASKED)
    assert found.rescued == bool(found.message.calls)
    return found.message.text, [(call.name, call.arguments) for call in found.message.calls]


@pytest.mark.parametrize(
    "text",
    [
        OBJECT,
        f"  [{OBJECT}]\n",
        f'{{"tool": "weather", "input": {ARGUMENTS}}}',
        f'{{"tool": "s__weather", "args": {ARGUMENTS}}}',
        f'{{"action": "weather", "action_input": {ARGUMENTS}}}',
        f'{{"type": "function", "function": {{"name": "weather", "parameters": {ARGUMENTS}}}}}',
        f'{{"type": "function", "name": "weather", "parameters": {ARGUMENTS}}}',
        f"<tool_call>\n{OBJECT}\n</tool_call>",
        f"<tool_call>{OBJECT}",
        f"<function_call>{OBJECT}</function_call>",
        f"<function=weather>{ARGUMENTS}</function>",
        "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
        f"[TOOL_CALLS][{OBJECT}]",
        f"[TOOL_CALLS]weather{ARGUMENTS}",
        f"[TOOL_CALLS]weather[ARGS]{ARGUMENTS}",
        f"<|tool_call|>[{OBJECT}]",
        f"<|python_tag|>{OBJECT}",
        "<|python_tag|>weather(city='Oslo')",
        "weather(city='Oslo')",
        '[s__weather(city="Oslo")]',
        f"```json\n{OBJECT}\n```",
        f"```\n{OBJECT}\n```",
        f"{{{OBJECT}}}",
        f"```json\n{{{OBJECT}}}\n```",
        '```tool_code\nprint(weather(city="Oslo"))\n```',
        '```python\nweather(city="Oslo")\n```',
    ],
)
def test_it_is_taken_as_a_call_of_the_offered_tool(text: str) -> None:
    assert calls_of(text) == ("", [("s__weather", {"city": "Oslo"})])
    before = f"Let me see.\n\n{text}" if text.lstrip()[0] in "`<" or text.startswith("[TOOL") else text
    assert calls_of(before)[1] == [("s__weather", {"city": "Oslo"})]


@pytest.mark.parametrize(
    "text",
    [
        "It is warm.",
        f'{{"name": "other", "arguments": {ARGUMENTS}}}',
        f'[{OBJECT}, {{"name": "other", "arguments": {{}}}}]',
        f"Write `<tool_call>{OBJECT}</tool_call>` to call it.",
        f"<think>{OBJECT}</think> It is warm.",
        f"<think><tool_call>{OBJECT}</tool_call></think> It is warm.",
        f"```yaml\n<tool_call>{OBJECT}</tool_call>\n```",
        '```json\n{"city": "Oslo"}\n```',
        f"The call is {OBJECT}.",
        "weather(city=home)",
        "weather('Oslo')",
        "os.system(command='rm')",
        "weather(city='Oslo') is what I would call.",
        '{"name": "s__weather"}',
        f'{OBJECT}\n{{"name": "other", "arguments": {{}}}}',
        f"{OBJECT} and {OBJECT}",
        f"{{{{{OBJECT}}}}}",
        f'{{"name": "s__weather", "arguments": {ARGUMENTS}, "more": 1}}',
        "[TOOL_CALLS]",
        "",
    ],
)
def test_what_only_looks_like_a_call_stays_text(text: str) -> None:
    assert calls_of(text) == (text, [])


def test_several_calls_and_the_text_before_them_are_kept() -> None:
    text = f"First.\n<tool_call>{OBJECT}</tool_call>\n<tool_call>{OBJECT}</tool_call>"
    shown, calls = calls_of(text)
    assert (shown.strip(), len(calls)) == ("First.", 2)
    found = rescued(Reply(Assistant(text, opaque={"content": text})), ASKED)
    assert found.message.opaque is None and len({call.id for call in found.message.calls}) == 2


@pytest.mark.parametrize("between", ["\n", "", "\n\n  "])
@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "<tool_call>\n{}\n</tool_call>"])
def test_calls_one_after_the_other_are_several(between: str, around: str) -> None:
    _, calls = calls_of(around.format(between.join([OBJECT] * 2)))
    assert calls == [("s__weather", {"city": "Oslo"})] * 2


def test_nothing_is_taken_beside_calls_of_the_channel_or_out_of_a_broken_turn() -> None:
    call = ToolCall("1", "s__time", {})
    for reply in (
        Reply(Assistant(OBJECT, (call,))),
        Reply(Assistant(OBJECT), cut_calls=(call,)),
        Reply(Assistant(OBJECT), incomplete=True),
        Reply(Assistant(OBJECT), stop="length"),
        Reply(Assistant(OBJECT), stop="refusal"),
    ):
        assert rescued(reply, ASKED) is reply
    plain = Reply(Assistant(OBJECT))
    assert rescued(plain, Request("m", (), tools=TOOLS, tool_choice="none")) is plain
    assert rescued(plain, Request("m", ())) is plain


PIECES = (
    OBJECT,
    f"{{{OBJECT}}}",
    "<tool_call>",
    "</tool_call>",
    "<think>",
    "</think>",
    "```json\n",
    "\n```\n",
    "```",
    "`",
    "<",
)
MORE = ("[TOOL_CALLS]", "weather(city='Oslo')", "<function=weather>{}</function>", "text ", "\n", " ", "[")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES + MORE), max_size=8), st.data())
def test_a_stream_shows_the_same_however_it_is_split(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    edges = [0, *places, len(text)]
    assert held([text[a:b] for a, b in pairwise(edges)]) == held([text]) == held(list(text))


def held(pieces: list[str]) -> tuple[str, list[Any]]:
    scanner = HeldText(Callables.of(TOOLS))
    shown = "".join(scanner.feed(piece) for piece in pieces)
    rest, calls = scanner.close()
    return shown + rest, calls


def test_what_may_become_a_call_is_held_back_and_other_text_is_not() -> None:
    scanner = HeldText(Callables.of(TOOLS))
    assert scanner.feed("It is ") == "It is "
    assert scanner.feed("<tool") == "" and scanner.feed("box>.") == "<toolbox>."
    assert scanner.feed(f"\n```json\n{ARGUMENTS}") in ("", "\n")
    assert "Oslo" in scanner.feed("\n```\nmore")
    assert scanner.feed(f"<tool_call>{OBJECT}") == ""
    scanner = HeldText(Callables.of(TOOLS))
    assert scanner.feed("wea") == "" and scanner.feed("ther is fine") == "weather is fine"
