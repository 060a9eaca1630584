"""A Chat Completions request, read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ....messages import Part, ToolCall, ToolChoice, ToolSpec
from ..asked import Asked
from ..faults import RequestFault
from ..media import data_url_part, media_part, text_part
from ..reading import Fields
from ..shared import Visible, arguments_of, checked_tools, effort_of

__all__ = ["function_spec", "parse_request", "schema_of"]

_USUAL = {
    "n": 1,
    "top_p": 1,
    "logprobs": False,
    "store": False,
    "frequency_penalty": 0,
    "presence_penalty": 0,
    "modalities": ["text"],
    "service_tier": "auto",
}
_REFUSED = {
    "functions": "write the functions as `tools`",
    "function_call": "write it as `tool_choice`",
    "audio": "answers are text here",
    "web_search_options": "choose a preset or a route that enables web_search",
}


def parse_request(body: Any) -> Asked:
    """What the request asks. Raises ``RequestFault`` that says what of it is wrong, or cannot be done."""
    fields = Fields(body)
    fields.ignore_usual(_USUAL)
    for name, why in _REFUSED.items():
        fields.refuse(name, why)
    fields.refuse("n", "one answer is given to a request", unless=[1])
    fields.refuse("logprobs", "no log probabilities are known here", unless=[False])
    fields.refuse("modalities", "answers are text here", unless=[["text"]])
    warnings: list[str] = []
    visible = Visible()
    for message in fields.objects("messages"):
        _read(message, visible)
    options = fields.object("stream_options")
    tools = checked_tools(_tools(fields), "tools")
    effort = effort_of(fields.text("reasoning_effort"), "reasoning_effort", warnings)
    most = fields.whole("max_completion_tokens")
    older = fields.whole("max_tokens")
    return Asked(
        fields.needed("model"),
        visible.asked("messages"),
        visible.system,
        tools,
        _choice(fields),
        fields.flag("parallel_tool_calls"),
        older if most is None else most,
        fields.number("temperature", 2),
        fields.texts("stop"),
        bool(fields.flag("stream")),
        bool(options and options.flag("include_usage")),
        effort,
        thoughts=effort not in (None, "none"),
        answer_schema=_answer_schema(fields.object("response_format")),
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
        visible.say(_words(message), [_call(call) for call in message.objects("tool_calls")])
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
    if call.text("type", "function") != "function":
        raise RequestFault(f"{call.at('type')} must be 'function'", param=call.at("type"))
    function = call.object("function") or call
    return arguments_of(call.needed("id"), function.needed("name"), function.text("arguments"))


def _tools(fields: Fields) -> Iterator[ToolSpec]:
    for tool in fields.objects("tools"):
        kind = tool.text("type")
        if kind != "function":
            why = f"{tool.at('type')} {kind!r} cannot be taken here: functions can"
            raise RequestFault(why, param=tool.at("type"))
        yield function_spec(tool.object("function") or tool)


def function_spec(function: Fields) -> ToolSpec:
    """The client's tool that ``function`` describes: its name, description, parameters and strictness."""
    schema = function.mapping("parameters") or {"type": "object", "properties": {}}
    strict = bool(function.flag("strict"))
    return ToolSpec("", function.needed("name"), function.text("description"), schema, strict=strict)


def _choice(fields: Fields) -> ToolChoice:
    written = fields.value("tool_choice")
    if written is None or written == "auto":
        return "auto"
    if written == "none" or written == "required":
        return "none" if written == "none" else "required"
    choice = Fields(written, "tool_choice")
    if choice.text("type") != "function":
        raise RequestFault("tool_choice must be none, auto, required or a function", param="tool_choice")
    return ("", (choice.object("function") or choice).needed("name"))


def _answer_schema(form: Fields | None) -> Mapping[str, Any] | None:
    if form is None:
        return None
    if form.text("type") == "json_schema" and (described := form.object("json_schema")):
        return schema_of(described)
    return schema_of(form)


def schema_of(form: Fields) -> Mapping[str, Any] | None:
    """The JSON Schema that an answer has to fit, of ``response_format`` or ``text.format``."""
    schema = form.mapping("schema")
    if schema is not None:
        return schema
    kind = form.text("type", "text")
    if kind == "json_object":
        return {"type": "object"}
    if kind != "text":
        raise RequestFault(f"{form.at('schema')} is missing", param=form.at("schema"))
    return None
