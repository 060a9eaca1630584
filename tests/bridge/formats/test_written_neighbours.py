"""What a careful reader would take for a call, and what not: quoted, mixed, nested and cut calls."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bridge.formats.test_written_markup import INVOKED, K3, M3, MARKUPS, OBJECT, TOOLS, A, N, read
from toolspan_bridge.formats.openai.parse import parse_reply
from toolspan_bridge.formats.prompt.call_scanner import CallScanner
from toolspan_bridge.formats.prompt.rescue import HeldText, rescued
from toolspan_bridge.formats.prompt.written_calls import Callables
from toolspan_bridge.formats.shared.replies.parse import WireCall
from toolspan_bridge.messages import Request, User

pytestmark = pytest.mark.requirement("I25.4.1")

CALL = f"<tool_call>{OBJECT}</tool_call>"
TIME = '{"name": "s__time", "arguments": {}}'
SAVED: tuple[str, Any] = (N, {"path": "a.md"})
TOLD: tuple[str, Any] = ("s__time", {})
SOLAR = (
    f"<|tool_call:start|>{N}\n<|tool_arg:start|>path<|tool_arg:value|>a.md<|tool_arg:end|>\n<|tool_call:end|>"
)
QUOTES = 'a "b".md'
ARGUMENT = '<|open|>argument key="{}" type="{}"<|sep|>{}<|close|>argument<|sep|>'


def xml(**values: str) -> str:
    written = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())
    return f"<tool_call>\n<function={N}>\n{written}</function>\n</tool_call>"


def saving(path: str, **more: Any) -> str:
    return json.dumps({"name": N, "arguments": {"path": path, **more}})


QUOTED = {
    "in backticks": f"You would write `{CALL}` for that.",
    "in doubled backticks": f"Write ``{CALL}`` for that.",
    "in quotes": f'The text "{CALL}" would call it.',
    "in typographic quotes": f"The text “{CALL}” would call it.",
    "in a block of XML": f"Example:\n```xml\n{CALL}\n```\nThat is how.",
    "in a block of text": f"Example:\n```text\n{CALL}\n```",
    "in a block of no language": f"Example:\n```\n{CALL}\n```",
    "in a block of tildes": f"Example:\n~~~\n{CALL}\n~~~",
    "in an indented block": f"- so:\n  ```xml\n  {CALL}\n  ```",
    "in a block in a longer one": f"````md\n```json\n{OBJECT}\n```\n````",
    "in a block with words after it": f"For example:\n\n```json\n{OBJECT}\n```\n\nwould save it.",
    "in a block of YAML": f"```yaml\nname: {N}\narguments:\n  path: a.md\n```",
    "in a block quote": f"> {CALL}",
    "in a comment": f"<!-- {CALL} -->",
    "in the middle of a sentence": f"A call would look like this: {CALL}. Shall I?",
    "at Python's prompt": f'>>> {N}(path="a.md")',
    "at Python's prompt, without a blank": f'>>>{N}(path="a.md")',
    "at a shell's prompt": f"$ toolspan call {N}\n{A}",
    "a name and an object": f"{N}\n{A}",
    "with words after it": f"<tool_call>{OBJECT}\nand then I will\n</tool_call>",
}


@pytest.mark.parametrize("how", QUOTED)
def test_a_call_that_is_quoted_is_text(how: str) -> None:
    shown, calls, _ = read(QUOTED[how])
    assert (shown, calls) == (QUOTED[how].strip(), ())


@pytest.mark.parametrize(
    "how", ["in quotes", "in typographic quotes", "in a block of text", "in a block of XML"]
)
def test_in_the_prompt_s_format_too(how: str) -> None:
    for pieces in ([QUOTED[how]], list(QUOTED[how])):
        scanner = CallScanner()
        found = [item for piece in pieces for item in scanner.feed(piece)] + scanner.close()
        assert not any(isinstance(item, WireCall) for item in found)
        assert "".join(item for item in found if isinstance(item, str)) == QUOTED[how]


THOUGHTS = {
    "in thoughts": f"<think>{CALL}</think>Done.",
    "before the end of thoughts": f"I could {CALL} but no.</think>Done.",
    "in thoughts without an end": f"<think>I will {CALL}",
    "Solar Open 2": f"<|think:start|>maybe {SOLAR}<|think:end|>No.",
    "Kimi K3": f"<|open|>think<|sep|>{K3}<|close|>think<|sep|><|open|>response<|sep|>No."
    "<|close|>response<|sep|>",
    "K2 Horizon": f"<ifm|think>{CALL}</ifm|think>No.",
    "Hunyuan 3": f"<think:opensource>{CALL}</think:opensource>No.",
    "openPangu": f"[unused16]{CALL}[unused17]No.",
}


@pytest.mark.requirement("I25.1.3")
@pytest.mark.parametrize("how", THOUGHTS)
def test_a_call_that_is_thought_of_is_none(how: str) -> None:
    plain = parse_reply({"choices": [{"message": {"content": THOUGHTS[how]}, "finish_reason": "stop"}]})
    assert not rescued(plain, Request("m", (User("?"),), tools=TOOLS)).message.calls


OTHERS = {
    "an unknown tool": '<tool_call>{"name": "delete", "arguments": {}}</tool_call>',
    "an unknown tool in tags": "<tool_call>\n<function=delete>\n<parameter=path>\na\n</parameter>\n"
    "</function>\n</tool_call>",
    "one unknown tool of two": f'{CALL}\n<tool_call>{{"name": "delete", "arguments": {{}}}}</tool_call>',
    "another tool's name before it": "<|message_model|>s__time<|content_invoke_tool_json|>"
    f'{{"name":"{N}","args":{A}}}<|end_message|>',
    "another server's tool": "<use_mcp_tool>\n<server_name>t</server_name>\n<tool_name>time</tool_name>\n"
    "<arguments>\n{}\n</arguments>\n</use_mcp_tool>",
    "half an object": f'<tool_call>{{"name": "{N}", "arguments": {{"path": "a',
    "a value without a name": f"<tool_call>{N}('a.md')</tool_call>",
    "a value that is code": f"[{N}(path=open('x').read())]",
    "a list of names": '<tool_call>["s__save"]</tool_call>',
    "nothing": "<tool_call></tool_call>",
}


@pytest.mark.parametrize("what", OTHERS)
def test_no_call_is_made_of(what: str) -> None:
    assert read(OTHERS[what])[1] == ()


REFUSED = {
    "half a value": f"<tool_call>\n<function={N}>\n<parameter=path>\na.m",
    "a parameter twice": f"<tool_call>\n<function={N}>\n<parameter=path>\na\n</parameter>\n<parameter=path>\n"
    "b\n</parameter>\n</function>\n</tool_call>",
    "an unknown parameter": xml(path="a.md", nope="b"),
    "a part twice": f'{M3}<tool_call>{M3}<invoke name="{N}">{M3}<more>{M3}<a>1{M3}</a>{M3}<a>2{M3}</a>'
    f"{M3}</more>{M3}</invoke>{M3}</tool_call>",
    "a part without an end": f'{M3}<tool_call>{M3}<invoke name="{N}">{M3}<more>{M3}<a>1{M3}</more>'
    f"{M3}</invoke>{M3}</tool_call>",
}


@pytest.mark.requirement("I25.1.4")
@pytest.mark.parametrize("what", REFUSED)
def test_a_call_is_refused_that_has(what: str) -> None:
    _, (call, *others), _ = read(REFUSED[what])
    assert (call.arguments, others) == (None, []) and call.malformed


READ: dict[str, tuple[str, list[tuple[str, Any]]]] = {
    "after thoughts": (f"<think>hm</think>\n\n{CALL}", [SAVED]),
    "Kimi's answer before it": (
        f"<|open|>response<|sep|>Saving.<|close|>response<|sep|><|open|>tools<|sep|>{K3}<|close|>tools<|sep|>"
        "<|close|>message<|sep|>",
        [SAVED],
    ),
    "two in one block": (f"<tool_call>\n{OBJECT}\n{TIME}\n</tool_call>", [SAVED, TOLD]),
    "two in one list": (f"<tool_call>[{OBJECT}, {TIME}]</tool_call>", [SAVED, TOLD]),
    "two in tags in one block": (
        f"<tool_call>\n<function={N}>\n<parameter=path>\na.md\n</parameter>\n</function>\n<function=s__time>\n"
        "</function>\n</tool_call>",
        [SAVED, TOLD],
    ),
    "two invocations": (
        f'<function_calls>\n{INVOKED}\n<invoke name="s__time">\n</invoke>\n</function_calls>',
        [SAVED, TOLD],
    ),
    "two in two markups": (f"{xml(path='a.md')}\n<tool_call>{TIME}</tool_call>", [SAVED, TOLD]),
    "one markup in another": (f"<tool_call>[TOOL_CALLS][{OBJECT}]</tool_call>", [SAVED]),
    "two of PLaMo's": (MARKUPS["PLaMo 3"] * 2, [SAVED, SAVED]),
    "two of Mistral's": (f"[TOOL_CALLS]{N}[ARGS]{A}[TOOL_CALLS]s__time[ARGS]{{}}", [SAVED, TOLD]),
    "two of Kimi's": (
        f'<|open|>tools<|sep|><|open|>call tool="{N}" index="1"<|sep|>'
        f"{ARGUMENT.format('path', 'string', '7')}"
        f'{ARGUMENT.format("many", "number", "7")}<|close|>call<|sep|><|open|>call tool="s__time" index="2"'
        "<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
        [(N, {"path": "7", "many": 7}), TOLD],
    ),
    "two in gpt-oss's channels": (
        f"<|channel|>commentary to=functions.{N} <|constrain|>json<|message|>{A}<|call|><|start|>assistant"
        "<|channel|>commentary to=functions.s__time <|constrain|>json<|message|>{}<|call|>",
        [SAVED, TOLD],
    ),
    "after gpt-oss's preamble": (
        "<|channel|>commentary<|message|>Let me save.<|end|><|start|>assistant<|channel|>commentary "
        f"to=functions.{N} <|constrain|>json<|message|>{A}<|call|>",
        [SAVED],
    ),
    "after Functionary's words to all": (f">>>all\nLet me see.\n>>>{N}\n{A}", [SAVED]),
    "with words on the next line": (f"{CALL}\nThis will save the file.", [SAVED]),
    "an object in tags": (
        xml(path="a.md", more='{"a": 1, "b": "x</y>"}'),
        [(N, {"path": "a.md", "more": {"a": 1, "b": "x</y>"}})],
    ),
    "a list in tags": (xml(path="a.md", tags='["x", "y"]'), [(N, {"path": "a.md", "tags": ["x", "y"]})]),
    "a Python dict in tags": (
        xml(path="a.md", more="{'a': 1, 'b': None}"),
        [(N, {"path": "a.md", "more": {"a": 1, "b": None}})],
    ),
    "a Python dict": (
        "<tool_call>{'name': 's__save', 'arguments': {'path': \"it's.md\", 'flag': True}}</tool_call>",
        [(N, {"path": "it's.md", "flag": True})],
    ),
    "escaped quotes": (f"<tool_call>{saving(QUOTES)}</tool_call>", [(N, {"path": QUOTES})]),
    "a raw line break": (
        f'<tool_call>{{"name": "{N}", "arguments": {{"path": "a\nb"}}}}</tool_call>',
        [(N, {"path": "a\nb"})],
    ),
    "escapes": (f"<tool_call>{saving('日本語 🎉.md')}</tool_call>", [(N, {"path": "日本語 🎉.md"})]),
    "other scripts in tags": (xml(path="Grüße — «a» 🎉.md"), [(N, {"path": "Grüße — «a» 🎉.md"})]),
    "character data": (
        f'<invoke name="{N}"><parameter name="path"><![CDATA[a <b> & c]]></parameter></invoke>',
        [(N, {"path": "a <b> & c"})],
    ),
    "ends in character data": (
        f'<function name="{N}"><param name="path"><![CDATA[a</param></function>]]></param></function>',
        [(N, {"path": "a</param></function>"})],
    ),
    "a number in character data": (
        f'<function name="{N}"><param name="path">a.md</param><param name="many"><![CDATA[7]]></param>'
        "</function>",
        [(N, {"path": "a.md", "many": 7})],
    ),
    "its own end in a value": (
        f'<function name="{N}"><param name="path">see </param> here</param></function>',
        [(N, {"path": "see </param> here"})],
    ),
    "MiniMax's objects and lists": (
        f'{M3}<tool_call>{M3}<invoke name="{N}">{M3}<path>a.md{M3}</path>{M3}<any>{M3}<a>1{M3}</a>{M3}<b>'
        f"{M3}<item>2{M3}</item>{M3}<item>x{M3}</item>{M3}</b>{M3}</any>{M3}<tags>{M3}<item>x{M3}</item>"
        f"{M3}<item>7{M3}</item>{M3}</tags>{M3}</invoke>{M3}</tool_call>",
        [(N, {"path": "a.md", "any": {"a": 1, "b": [2, "x"]}, "tags": ["x", "7"]})],
    ),
    "HTML in MiniMax's tags": (
        f'{M3}<tool_call>{M3}<invoke name="{N}">{M3}<path><p>a</p>{M3}</path>{M3}</invoke>{M3}</tool_call>',
        [(N, {"path": "<p>a</p>"})],
    ),
    "a number of Solar's": (
        f"<|tool_call:start|>{N}\n<|tool_arg:start|>path<|tool_arg:value|>5<|tool_arg:end|>\n<|tool_arg:start|>"
        "many<|tool_arg:value|>5<|tool_arg:end|>\n<|tool_call:end|>",
        [(N, {"path": "5", "many": 5})],
    ),
    "none of Solar's arguments": ("<|tool_call:start|>s__time\n<|tool_call:end|>", [TOLD]),
    "none of GLM's arguments": ("<tool_call>s__time</tool_call>", [TOLD]),
    "Gemma's objects": (
        f'<|tool_call>call:{N}{{path:<|"|>a.md<|"|>,more:{{a:1,b:<|"|>x}}<|"|>}}}}<tool_call|>',
        [(N, {"path": "a.md", "more": {"a": 1, "b": "x}"}})],
    ),
    "a name with a space before it": (
        f'<tool_call>{{"name": "functions.{N}", "arguments": {A}}}</tool_call>',
        [SAVED],
    ),
    "a name with a channel after it": (
        f'<tool_call>{{"name": "{N}<|channel|>commentary", "arguments": {A}}}</tool_call>',
        [SAVED],
    ),
    "a name of Gemini's": ('```tool_code\nprint(default_api.save(path="a.md"))\n```', [SAVED]),
}


@pytest.mark.parametrize("what", READ)
def test_a_call_is_read_with(what: str) -> None:
    text, expected = READ[what]
    plain = parse_reply({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})
    found = rescued(plain, Request("m", (User("?"),), tools=TOOLS))
    assert [(call.name, call.arguments) for call in found.message.calls] == expected
    assert "<|" not in found.message.text and "[unused" not in found.message.text


PIECES = (
    *(MARKUPS[of] for of in ("Kimi K3", "MiniMax M3", "Solar Open 2", "GigaChat 3", "Inkling", "Hunyuan 3")),
    *("> ", "<!-- ", " -->", '"', "~~~\n", "\n~~~", ">>>", f">>>{N}\n", A, CALL, "\n", " and ", "```json\n"),
    *(OBJECT, "\n```"),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=6), st.data())
def test_a_stream_shows_the_same_however_it_is_split(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    edges = [0, *places, len(text)]
    assert _held([text[a:b] for a, b in pairwise(edges)]) == _held([text]) == _held(list(text))


def _held(pieces: list[str]) -> tuple[str, list[Any]]:
    held = HeldText(Callables.of(TOOLS))
    shown = "".join(held.feed(piece) for piece in pieces)
    rest, calls = held.close()
    return shown + rest, calls
