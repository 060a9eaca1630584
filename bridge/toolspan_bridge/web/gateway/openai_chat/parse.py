"""A Chat Completions request, read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ....messages import Part, ToolCall, ToolChoice, ToolSpec
from ..asked import Asked
from ..faults import RequestFault
from ..media import data_url_part, media_part, text_part
from ..parameters import CHAT
from ..reading import Fields
from ..shared import Visible, arguments_of, checked_tools, effort_of, told_left_out
from ..text_tools import text_call, text_tool

__all__ = ["function_spec", "parse_request", "schema_of", "tool_choice"]

_TAKEN = ("custom", "function")
_CHOICES: dict[str, ToolChoice] = {"auto": "auto", "none": "none", "required": "required"}


def parse_request(body: Any) -> Asked:
    """What the request asks. Raises ``RequestFault`` that says what of it is wrong, or cannot be done."""
    fields = Fields(body)
    settings = CHAT.read(fields)
    warnings: list[str] = []
    visible = Visible()
    for message in fields.objects("messages"):
        _read(message, visible)
        warnings += [f"{message.at('name')!r} has no effect here"] if message.value("name") else []
    visible.ask_instructions()
    options = fields.object("stream_options")
    warnings += told_left_out(list(fields.objects("tools")), _TAKEN)
    tools = checked_tools(_tools(fields), "tools")
    choice, tools = tool_choice(fields, tools)
    effort = effort_of(fields.text("reasoning_effort"), "reasoning_effort", warnings)
    most = fields.whole("max_completion_tokens")
    older = fields.whole("max_tokens")
    stops = fields.texts("stop")
    return Asked(
        fields.needed("model"),
        visible.asked("messages"),
        visible.system,
        tools,
        choice,
        fields.flag("parallel_tool_calls"),
        older if most is None else most,
        fields.number("temperature", 2),
        stops,
        bool(fields.flag("stream")),
        bool(options and options.flag("include_usage")),
        effort,
        thoughts=effort not in (None, "none"),
        answer_schema=_answer_schema(fields.object("response_format")),
        text_tools=frozenset(
            tool.text("name") for each in fields.objects("tools") if (tool := each.object("custom"))
        ),
        malformed_calls=True,
        settings=settings | ({"stop": list(stops)} if stops else {}),
        warnings=(*warnings, *fields.unread()),
    )


def _read(message: Fields, visible: Visible) -> None:
    role = message.one_of("role", ("system", "developer", "user", "assistant", "tool"))
    if role in ("system", "developer"):
        visible.instruct(_words(message))
    elif role == "user":
        parts = list(_parts(message))
        words = "\n\n".join(str(part.data["text"]) for part in parts if part.type == "text")
        visible.ask(words, [part for part in parts if part.type != "text"])
    elif role == "assistant":
        message.refuse("function_call", "write it as `tool_calls`")
        words = _words(message) or message.text("refusal")
        visible.say(words, [_call(call) for call in message.objects("tool_calls")])
    elif role == "tool":
        visible.result(message.needed("tool_call_id"), list(_parts(message)), message.at("tool_call_id"))
    else:
        raise RequestFault(f"{message.at('role')} is missing", param=message.at("role"))


def _words(message: Fields) -> str:
    """The text of a message that has only words."""
    parts = list(_parts(message))
    if any(part.type != "text" for part in parts):
        raise RequestFault(f"{message.at('content')} may hold only text here", param=message.at("content"))
    return "\n\n".join(str(part.data["text"]) for part in parts)


def _parts(message: Fields) -> Iterator[Part]:
    content = message.value("content")
    if content is None:
        return
    if isinstance(content, str):
        yield text_part(content)
        return
    for part in message.objects("content"):
        yield _part(part)


def _part(part: Fields) -> Part:
    kind = part.text("type")
    if kind in ("text", "refusal"):
        return text_part(part.text(kind))
    if kind == "image_url":
        image = part.object("image_url") or part
        return data_url_part(image.needed("url"), image.at("url"))
    if kind == "input_audio":
        audio = part.object("input_audio") or part
        return media_part(f"audio/{audio.needed('format')}", audio.needed("data"), audio.at("data"))
    if kind == "file":
        file = part.object("file") or part
        file.refuse("file_id", "no files are kept here: send `file_data`")
        name = file.text("filename")
        return data_url_part(file.needed("file_data"), file.at("file_data"), name)
    raise RequestFault(f"{part.at('type')} {kind!r} cannot be taken here", param=part.at("type"))


def _call(call: Fields) -> ToolCall:
    kind = call.one_of("type", ("function", "custom"), "function")
    if kind == "custom":
        custom = call.object("custom") or call
        return text_call(call.needed("id"), custom.needed("name"), custom.text("input"))
    function = call.object("function") or call
    return arguments_of(call.needed("id"), function.needed("name"), function.text("arguments"))


def _tools(fields: Fields) -> Iterator[ToolSpec]:
    for tool in fields.objects("tools"):
        kind = tool.text("type")
        if kind == "custom":
            yield text_tool(tool.object("custom") or tool)
        elif kind == "function":
            yield function_spec(tool.object("function") or tool)


def function_spec(function: Fields) -> ToolSpec:
    """The client's tool that ``function`` describes: its name, description, parameters and strictness."""
    schema = function.schema("parameters") or {"type": "object", "properties": {}}
    strict = bool(function.flag("strict"))
    return ToolSpec("", function.needed("name"), function.text("description"), schema, strict=strict)


def tool_choice(fields: Fields, tools: tuple[ToolSpec, ...]) -> tuple[ToolChoice, tuple[ToolSpec, ...]]:
    """The choice of a request with ``tools``, of both of OpenAI's APIs, and those that it leaves."""
    written = fields.value("tool_choice")
    if written is None or isinstance(written, str):
        known = _CHOICES.get(written or "auto")
        if known is None:
            raise _unknown_choice()
        return known, tools
    choice = Fields(written, "tool_choice")
    kind = choice.text("type")
    if kind in ("function", "custom"):
        return ("", (choice.object(kind) or choice).needed("name")), tools
    if kind != "allowed_tools":
        raise _unknown_choice()
    allowed = choice.object("allowed_tools") or choice
    names = {(each.object(each.text("type")) or each).text("name") for each in allowed.objects("tools")}
    mode = _CHOICES[allowed.one_of("mode", ("auto", "required"), "auto")]
    return mode, tuple(tool for tool in tools if tool.name in names)


def _unknown_choice() -> RequestFault:
    why = "must be none, auto, required, a function, a custom tool or allowed_tools"
    return RequestFault(f"tool_choice {why}", param="tool_choice")


def _answer_schema(form: Fields | None) -> Mapping[str, Any] | None:
    if form is None:
        return None
    if form.text("type") != "json_schema":
        return schema_of(form)
    described = form.object("json_schema")
    schema = None if described is None else described.schema("schema")
    if schema is None:
        place = f"{form.at('json_schema')}.schema"
        raise RequestFault(f"{place} is missing", param=place)
    return schema


def schema_of(form: Fields) -> Mapping[str, Any] | None:
    """The JSON Schema that an answer has to fit, of ``response_format`` or ``text.format``."""
    schema = form.schema("schema")
    if schema is not None:
        return schema
    kind = form.text("type", "text")
    if kind == "json_object":
        return {"type": "object"}
    if kind != "text":
        raise RequestFault(f"{form.at('schema')} is missing", param=form.at("schema"))
    return None
