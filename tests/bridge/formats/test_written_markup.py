"""Calls in the markups that models write, whole and byte by byte, and values that hold the ends of markup."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.wires.openai import answer
from toolspan_bridge.formats import openai
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.formats.prompt.rescue import UNREAD, HeldText, rescued
from toolspan_bridge.formats.prompt.written_calls import Callables
from toolspan_bridge.messages import Assistant, Reply, Request, ToolCall, ToolSpec, User

N, A = "s__save", '{"path": "a.md"}'
DICT = f"{{'name': '{N}', 'arguments': {{'path': 'a.md'}}}}"
OBJECT = f'{{"name": "{N}", "arguments": {A}}}'
XML = f"<function={N}>\n<parameter=path>\na.md\n</parameter>\n</function>"
INVOKED = f'<invoke name="{N}">\n<parameter name="path">a.md</parameter>\n</invoke>'

M3 = "]<]minimax[>["
K3 = (
    f'<|open|>call tool="{N}" index="1"<|sep|><|open|>argument key="path" type="string"<|sep|>a.md'
    "<|close|>argument<|sep|><|close|>call<|sep|>"
)


def hunyuan(end: str) -> str:
    return (
        f"<tool_calls{end}>\n<tool_call{end}>{N}<tool_sep{end}>\n<arg_key{end}>path</arg_key{end}>\n"
        f"<arg_value{end}>a.md</arg_value{end}>\n</tool_call{end}>\n</tool_calls{end}>"
    )


SAVE = ToolSpec(
    "s",
    "save",
    "Saves",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "zip": {"type": ["string", "null"]},
            "mode": {"enum": ["a", "b"]},
            "flag": {"type": "boolean"},
            "many": {"type": "integer"},
            "rate": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "more": {"$ref": "#/$defs/more"},
            "any": {},
        },
        "$defs": {"more": {"type": "object"}},
    },
)
TIME = ToolSpec("s", "time", "Tells the time", {"type": "object", "properties": {}})
TOOLS = (SAVE, TIME)
ASKED = Request("m", (User("hi"),), tools=TOOLS)


def read(text: str) -> tuple[str, tuple[ToolCall, ...], tuple[str, ...]]:
    """What is made of ``text``, the same whole and byte by byte."""
    found = rescued(Reply(Assistant(text)), ASKED)
    held = HeldText(Callables.of(TOOLS))
    shown = "".join(held.feed(piece) for piece in text)
    rest, calls = held.close()
    said = [(call.name, call.fault) for call in calls]
    assert said == [(call.name, call.malformed) for call in found.message.calls if call.malformed] or len(
        calls
    ) == len(found.message.calls)
    if calls:
        assert (shown + rest).strip() == found.message.text.strip()
    else:
        assert shown + rest == text
    return found.message.text.strip(), found.message.calls, found.notes


MARKUPS = {
    "Hermes": f"<tool_call>\n{OBJECT}\n</tool_call>",
    "Hermes, not closed": f"<tool_call>\n{OBJECT}",
    "Hermes, with a Python dict": f"<tool_call>{DICT}</tool_call>",
    "Hermes, its arguments as a text": f'<tool_call>{{"name": "{N}", "arguments": '
    f"{json.dumps(A)}}}</tool_call>",
    "Granite 4": f"<tool_call>[{OBJECT}]</tool_call>",
    "Jamba": f"<tool_calls>[{OBJECT}]</tool_calls>",
    "Hunyuan": f"<tool_calls><tool_call>{N}\n```json\n{A}\n```</tool_call></tool_calls>",
    "Granite 20B": f"<function_call>{OBJECT}",
    "Qwen3-Coder": f"<tool_call>\n{XML}\n</tool_call>",
    "Qwen3-Coder, its opening left out": f"{XML}\n</tool_call>",
    "Qwen3-Coder, a parameter not closed": f"<tool_call>\n<function={N}>\n<parameter=path>\na.md\n"
    "</function>\n</tool_call>",
    "Qwen3-Coder, without a line break": f"<function={N}><parameter=path>a.md</parameter></function>",
    "Seed-OSS": f"<seed:tool_call>\n{XML}\n</seed:tool_call>",
    "Functionary": f"<function={N}>{A}</function>",
    "Functionary 3": f">>>{N}\n{A}",
    "GLM 4.5": f"<tool_call>{N}\n<arg_key>path</arg_key>\n<arg_value>a.md</arg_value>\n</tool_call>",
    "GLM 4.7": f"<tool_call>{N}<arg_key>path</arg_key><arg_value>a.md</arg_value></tool_call>",
    "MiniMax M2": f"<minimax:tool_call>\n{INVOKED}\n</minimax:tool_call>",
    "Claude": f"<function_calls>\n{INVOKED}\n</function_calls>",
    "Claude, the invocation alone": INVOKED,
    "Step 3": f'<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="{N}">'
    '<steptml:parameter name="path">a.md</steptml:parameter></steptml:invoke><｜tool_call_end｜>'
    "<｜tool_calls_end｜>",
    "DeepSeek 3.1": f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{N}<｜tool▁sep｜>{A}<｜tool▁call▁end｜>"
    "<｜tool▁calls▁end｜>",
    "DeepSeek R1": f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{N}\n```json\n{A}\n```"
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "DeepSeek 3.2": f'<｜DSML｜function_calls>\n<｜DSML｜invoke name="{N}">\n<｜DSML｜parameter name="path" '
    'string="true">a.md</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    "DeepSeek 4": f'<｜DSML｜tool_calls>\n<｜DSML｜invoke name="{N}">\n<｜DSML｜parameter name="path" '
    'string="true">a.md</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
    "Kimi K2": f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{N}:0<|tool_call_argument_begin|>"
    f"{A}<|tool_call_end|><|tool_calls_section_end|>",
    "gpt-oss": f"<|channel|>commentary to=functions.{N} <|constrain|>json<|message|>{A}<|call|>",
    "gpt-oss, after its role": f"<|start|>assistant<|channel|>commentary to=functions.{N} "
    f"<|constrain|>json<|message|>{A}<|call|>",
    "gpt-oss, the recipient in the role": f"<|start|>assistant to=functions.{N}<|channel|>commentary "
    f"json<|message|>{A}<|call|>",
    "gpt-oss, its tokens dropped": f"commentary to=functions.{N} json{A}",
    "Llama 3": f'{{"type": "function", "name": "{N}", "parameters": {A}}}',
    "Llama 3.1": f"<|python_tag|>{OBJECT}<|eom_id|>",
    "Llama 3.1, in Python": f'<|python_tag|>{N}.call(path="a.md")',
    "Llama 4": f'<|python_start|>[{N}(path="a.md")]<|python_end|>',
    "Llama 4, its tokens dropped": f'[{N}(path="a.md")]',
    "LFM2": f'<|tool_call_start|>[{N}(path="a.md")]<|tool_call_end|>',
    "Olmo 3": f'<function_calls>\n{N}(path="a.md")\n</function_calls>',
    "Gemma 3": f'```tool_code\nprint({N}(path="a.md"))\n```',
    "Gemma 4": f'<|tool_call>call:{N}{{path:<|"|>a.md<|"|>}}<tool_call|>',
    "FunctionGemma": f"<start_function_call>call:{N}{{path:<escape>a.md<escape>}}<end_function_call>",
    "Mistral": f"[TOOL_CALLS][{OBJECT}]",
    "Mistral, newer": f"[TOOL_CALLS]{N}[ARGS]{A}",
    "Mistral, with an id": f"[TOOL_CALLS]{N}[CALL_ID]Ab1Cd2Ef3[ARGS]{A}",
    "Nemotron": f"<TOOLCALL>[{OBJECT}]</TOOLCALL>",
    "Granite 3": f"<|tool_call|>[{OBJECT}]",
    "Phi-4 mini": f"<|tool_call|>[{OBJECT}]<|/tool_call|>",
    "Phi-4 mini, newer": f"functools[{OBJECT}]",
    "Command R": f'Action: ```json\n[{{"tool_name": "{N}", "parameters": {A}}}]\n```',
    "Command R7B": f'<|START_ACTION|>[{{"tool_call_id": "0", "tool_name": "{N}", "parameters": {A}}}]'
    "<|END_ACTION|>",
    "Apertus": f'<|tools_prefix|>[{{"{N}": {A}}}]<|tools_suffix|>',
    "InternLM": f"<|action_start|><|plugin|>\n{OBJECT}<|action_end|>",
    "LongCat": f"<longcat_tool_call>{OBJECT}</longcat_tool_call>",
    "ReAct": f"Action: {N}\nAction Input: {A}",
    "Solar Open 2": f"<|tool_call:start|>{N}\n<|tool_arg:start|>path<|tool_arg:value|>a.md<|tool_arg:end|>\n"
    "<|tool_call:end|>",
    "Kimi K3": f"<|open|>tools<|sep|>{K3}<|close|>tools<|sep|>",
    "Kimi K3, its section left out": K3,
    "MiniMax M3": f'{M3}<tool_call>{M3}<invoke name="{N}">{M3}<path>a.md{M3}</path>{M3}</invoke>'
    f"{M3}</tool_call>",
    "Inkling": f'<|message_model|>{N}<|content_invoke_tool_json|>{{"name":"{N}","args":{A}}}<|end_message|>',
    "GigaChat 3.5": f'<｜GCML｜tool_calls>\n<｜GCML｜invoke name="{N}">\n<｜GCML｜parameter name="path" '
    'string="true">a.md</｜GCML｜parameter>\n</｜GCML｜invoke>\n</｜GCML｜tool_calls>',
    "GigaChat 3": f"<|message_sep|>\n\nfunction call<|role_sep|>\n{OBJECT}",
    "GigaChat 3, its separator dropped": f"function call<|role_sep|>\n{OBJECT}",
    "GigaChat 3.1": f"<|function_call|>{OBJECT}",
    "dots": f"<dots_function_call>\n{INVOKED}\n</dots_function_call>",
    "MiniCPM 5": f'<function name="{N}"><param name="path">a.md</param></function>',
    "MiniCPM 5, as character data": f'<function name="{N}"><param name="path"><![CDATA[a.md]]></param>'
    "</function>",
    "Muse Glimmer": f'<atem:function_calls>\n<atem:invoke name="{N}">\n<atem:parameter name="path">a.md'
    "</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|>",
    "Hunyuan 3": hunyuan(""),
    "Hunyuan 3, released": hunyuan(":opensource"),
    "K2 Horizon": f"<ifm|tool_calls>\n<ifm|tool_call>{N}\n<ifm|arg_key>path</ifm|arg_key>\n<ifm|arg_value>"
    "a.md</ifm|arg_value>\n</ifm|tool_call>\n</ifm|tool_calls>",
    "K2 Horizon, typed": f"<ifm|tool_call>{N}\n<ifm|arg_key>path</ifm|arg_key>\n<ifm|arg_type>string"
    "</ifm|arg_type>\n<ifm|arg_value>a.md</ifm|arg_value>\n</ifm|tool_call>",
    "K2 Horizon, in JSON": f"<ifm|tool_calls>\n<ifm|tool_call>{OBJECT}</ifm|tool_call>\n</ifm|tool_calls>",
    "PLaMo 3": "<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|>"
    f"<|plamo:begin_tool_name:plamo|>{N}<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>{A}"
    "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|><|plamo:end_tool_requests:plamo|>",
    "openPangu": f"[unused11][{OBJECT}][unused12]",
    "openPangu 2": f"<|tool_call_start|>[{OBJECT}]<|tool_call_end|>",
    "Granite, in Python": f'<tool_call>[{N}(path="a.md")]</tool_call>',
    "MiroThinker": "<use_mcp_tool>\n<server_name>s</server_name>\n<tool_name>save</tool_name>\n<arguments>\n"
    f"{A}\n</arguments>\n</use_mcp_tool>",
    "gpt-oss, in its thoughts' channel": f"<|channel|>analysis to=functions.{N} code<|message|>{A}<|call|>",
    "gpt-oss, after its prompt": f" to=functions.{N}<|channel|>commentary json<|message|>{A}",
    "doubled braces": f"{{{OBJECT}}}",
    "doubled braces, the last one left out": f"{{{OBJECT}",
    "a stray end": f"{OBJECT}\n</tool_call>",
    "a doubled end": f"<tool_call>{OBJECT}</tool_call></tool_call>",
}


@pytest.mark.requirement("I25.4.1")
@pytest.mark.parametrize("before", ["", "Let me see.\n"])
@pytest.mark.parametrize("model", MARKUPS)
def test_a_call_is_read_in_the_markup_of(model: str, before: str) -> None:
    text = MARKUPS[model]
    starts = text.startswith(("{", f"[{N}", "functools", " to="))
    if before and starts:
        return
    shown, calls, notes = read(before + text)
    assert [(call.name, call.arguments) for call in calls] == [(N, {"path": "a.md"})]
    assert (shown, notes) == (before.strip(), ())


@pytest.mark.requirement("I25.4.1")
@pytest.mark.parametrize("between", ["; ", "\n", ""])
def test_several_calls_are_read_however_they_are_parted(between: str) -> None:
    time = '{"name": "s__time", "arguments": {}}'
    assert [call.name for call in read(f"{OBJECT}{between}{time}")[1]] == [N, "s__time"]
    twice = (
        f"<tool_call>{OBJECT}</tool_call>{between}<tool_call>\n<function=s__time>\n</function>\n</tool_call>"
    )
    assert [call.name for call in read(twice)[1]] == [N, "s__time"]


@pytest.mark.requirement("I25.4.1")
@pytest.mark.parametrize(
    "text",
    [
        "<tool_call> is the mark of a call.",
        f"<tool_call>{OBJECT} no, wait.",
        f'<tool_call>{{"name": "other", "arguments": {{}}}}</tool_call><tool_call>{OBJECT}</tool_call>',
        "<|python_tag|>import os\nos.remove('a.md')",
        "<function=other>\n<parameter=path>\na\n</parameter>\n</function>",
        "<｜tool▁calls▁begin｜>nothing<｜tool▁calls▁end｜>",
        "[TOOL_CALLS]",
        f"[TOOL_CALLS]{N}[ARGS]{{",
        "</tool_call>",
    ],
)
def test_markup_that_is_left_in_an_answer_is_told_of(text: str) -> None:
    shown, calls, notes = read(text)
    assert (shown, calls, notes) == (text, (), (UNREAD,))


@pytest.mark.requirement("I25.4.1")
@pytest.mark.parametrize(
    "text", ["`<tool_call>` begins one.", f"```xml\n{XML}\n```", "a < b", "Action: rest."]
)
def test_markup_in_code_is_no_markup(text: str) -> None:
    assert read(text) == (text, (), ())


@pytest.mark.requirement("I25.1.3")
@pytest.mark.parametrize(
    ("opens", "closes"),
    [("<think>", "</think>"), ("[THINK]", "[/THINK]"), ("<seed:think>", "</seed:think>"), ("", "</think>")],
)
@pytest.mark.parametrize("before", ["", "Well. "])
@pytest.mark.parametrize("model", ["Hermes", "Kimi K2", "Qwen3-Coder", "Llama 4", "gpt-oss"])
def test_no_call_is_read_in_thoughts(model: str, before: str, opens: str, closes: str) -> None:
    came = openai.parse_reply(answer(f"{before}{opens}{MARKUPS[model]} or not{closes}\n\nHi"))
    assert not rescued(came, ASKED).message.calls


VALUES: list[tuple[str, str, Any]] = [
    ("path", "90210", "90210"),
    ("path", "true", "true"),
    ("path", '{"a": 1}', '{"a": 1}'),
    ("path", "[1]", "[1]"),
    ("path", "null", "null"),
    ("path", " two  spaces ", " two  spaces "),
    ("zip", "012", "012"),
    ("zip", "null", None),
    ("mode", "b", "b"),
    ("flag", "True", True),
    ("flag", "false", False),
    ("flag", "yes", "yes"),
    ("many", "7", 7),
    ("many", "seven", "seven"),
    ("rate", "1.5", 1.5),
    ("rate", "null", None),
    ("tags", '["a", "b"]', ["a", "b"]),
    ("tags", "['a', 'b']", ["a", "b"]),
    ("more", '{"a": true}', {"a": True}),
    ("more", "{'a': True}", {"a": True}),
    ("any", "7", 7),
    ("any", "text", "text"),
]
TAGGED = {
    "Qwen": "<tool_call>\n<function=s__save>\n<parameter={}>\n{}\n</parameter>\n</function>\n</tool_call>",
    "MiniMax": '<minimax:tool_call><invoke name="s__save"><parameter name="{}">{}</parameter></invoke>'
    "</minimax:tool_call>",
    "GLM": "<tool_call>s__save\n<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>\n</tool_call>",
    "MiniCPM": '<function name="s__save"><param name="{}">{}</param></function>',
    "Solar": "<|tool_call:start|>s__save\n<|tool_arg:start|>{}<|tool_arg:value|>{}<|tool_arg:end|>\n"
    "<|tool_call:end|>",
    "Kimi": '<|open|>tools<|sep|><|open|>call tool="s__save" index="1"<|sep|><|open|>argument key="{}" '
    'type="object"<|sep|>{}<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
    "Hunyuan": "<tool_calls><tool_call>s__save<tool_sep>\n<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>\n"
    "</tool_call></tool_calls>",
    "DeepSeek": '<｜DSML｜tool_calls><｜DSML｜invoke name="s__save"><｜DSML｜parameter name="{}" '
    'string="false">{}'
    "</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>",
}


@pytest.mark.requirement("I25.4.2")
@pytest.mark.parametrize("tagged", TAGGED)
@pytest.mark.parametrize(("key", "written", "value"), VALUES)
def test_a_value_is_what_the_tool_s_schema_says(tagged: str, key: str, written: str, value: Any) -> None:
    _, (call,), _ = read(TAGGED[tagged].format(key, written))
    assert call.arguments == {key: value} and type((call.arguments or {})[key]) is type(value)


ENDS = [
    "x = '</parameter>' + y",
    "x = '</arg_value>' + y",
    "<p>\n</parameter>\nmore",
    "a </function> b",
    "a </invoke> b",
    "</tool_call> in the middle",
    "a </｜DSML｜parameter> b",
    "line\n\nline",
    "<tool_call>",
    "a </think> b",
]


@pytest.mark.requirement("I25.1.4")
@pytest.mark.parametrize("tagged", TAGGED)
@pytest.mark.parametrize("value", ENDS)
def test_a_value_that_holds_an_end_is_whole_or_refused_with_words(tagged: str, value: str) -> None:
    _, calls, _ = read(TAGGED[tagged].format("path", value))
    for call in calls:
        assert call.arguments == {"path": value} or "write it without that" in call.malformed, call


@pytest.mark.requirement("I25.1.4")
@pytest.mark.parametrize("value", ["x = '</parameter>' + y", "a </function> b", "<p>\n</parameter>\nmore"])
def test_a_value_that_holds_an_end_is_read_where_one_reading_is_certain(value: str) -> None:
    _, (call,), _ = read(TAGGED["Qwen"].format("path", value))
    assert call.arguments == {"path": value}


INNER = "<function=s__save>\n<parameter=path>\nb.md\n</parameter>\n</function>"


@pytest.mark.requirement("I25.1.4")
@pytest.mark.parametrize(
    "value",
    [
        f"It is written so:\n{INNER}\nThat is all.",
        "a\n</parameter>\n</function>\nb",
        "a\n</parameter>\n<parameter=path>\nb",
        "a\n</parameter>\n<parameter=unknown>\nb",
    ],
)
def test_a_value_whose_end_is_not_certain_is_refused_and_the_model_is_told_why(value: str) -> None:
    _, (call, *others), _ = read(TAGGED["Qwen"].format("path", value))
    assert (call.name, call.arguments, others) == (N, None, [])
    assert "not certain" in call.malformed or "no part of the call" in call.malformed


@pytest.mark.requirement("I25.1.4")
@pytest.mark.parametrize(
    "value", ["a </tool_call> b", "</tool_call>", '"</tool_call>', "a\n```\nb", "</think>"]
)
@pytest.mark.parametrize(
    "around", ["<tool_call>{}</tool_call>", "<TOOLCALL>[{}]</TOOLCALL>", "{}", "[TOOL_CALLS][{}]"]
)
def test_a_text_in_json_may_hold_any_end(around: str, value: str) -> None:
    written = json.dumps({"name": N, "arguments": {"path": value}})
    _, (call,), _ = read(around.format(written))
    assert call.arguments == {"path": value}


@pytest.mark.requirement("I25.1.4")
def test_a_value_that_breaks_off_is_refused() -> None:
    _, (call,), _ = read(f"<tool_call>\n<function={N}>\n<parameter=path>\nhalf of a fi")
    assert call.arguments is None and "has no end" in call.malformed


@pytest.mark.requirement("I25.4.3")
@pytest.mark.parametrize(
    ("called", "found"),
    [
        ("s__save", SAVE),
        ("save", SAVE),
        ("functions.s__save", SAVE),
        ("functions.save:3", SAVE),
        ("default_api:save", SAVE),
        ("default_api.s__save", SAVE),
        ("tools.save", SAVE),
        ("s.save", SAVE),
        ("s/save", SAVE),
        ("s__save<|channel|>commentary", SAVE),
        ("functions.s__save<|channel|>json", SAVE),
        (" save \n", SAVE),
        ("`save`", SAVE),
        ("save()", SAVE),
        ("os.save", None),
        ("saves", None),
        ("save time", None),
        ("functions.", None),
        ("", None),
    ],
)
def test_a_name_with_extras_finds_its_tool(called: str, found: ToolSpec | None) -> None:
    assert NameTable.of(TOOLS).called(called) == found


@pytest.mark.requirement("I25.4.3")
def test_a_name_that_fits_two_tools_finds_none() -> None:
    other = ToolSpec("t", "save", "", {})
    assert NameTable.of((SAVE, other)).called("functions.save") is None
    assert NameTable.of((SAVE, other)).called("t.save") == other
