"""A Messages request, read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ....messages import Part, ReasoningEffort, ToolCall, ToolChoice, ToolSpec
from ..asked import Asked
from ..faults import RequestFault
from ..media import media_part, text_part
from ..reading import Fields
from ..shared import Visible, checked_tools, effort_of

__all__ = ["parse_request"]

_BUDGETS: tuple[tuple[int, ReasoningEffort], ...] = ((4_096, "low"), (16_384, "medium"))
_THOUGHTS = ("thinking", "redacted_thinking")
_USUAL = {"top_p": 1, "service_tier": "auto"}


def parse_request(body: Any, *, counts: bool = False) -> Asked:
    """What the request asks; ``counts``: it asks only for its tokens. Raises ``RequestFault`` that says what
    of it is wrong, or cannot be done."""
    fields = Fields(body)
    fields.ignore_usual(_USUAL)
    warnings: list[str] = []
    visible = Visible(_system(fields))
    for message in fields.objects("messages"):
        _read(message, visible)
    choice = fields.object("tool_choice")
    most = fields.whole("max_tokens")
    if most is None and not counts:
        raise RequestFault("max_tokens: field required", param="max_tokens")
    config = fields.object("output_config")
    effort, thoughts = _thinking(fields, warnings)
    if config is not None:
        effort = effort_of(config.text("effort"), "output_config.effort", warnings) or effort
    schema = _schema(config.object("format") if config else None) or _schema(fields.object("output_format"))
    parallel = choice.flag("disable_parallel_tool_use") if choice else None
    return Asked(
        fields.needed("model"),
        visible.asked("messages"),
        visible.system,
        checked_tools(_tools(fields), "tools"),
        _choice(choice),
        None if parallel is None else not parallel,
        most,
        fields.number("temperature", 1),
        fields.texts("stop_sequences"),
        bool(fields.flag("stream")),
        include_usage=True,
        reasoning=effort,
        thoughts=thoughts,
        answer_schema=schema,
        warnings=(*warnings, *fields.unread()),
    )


def _system(fields: Fields) -> str:
    if isinstance(fields.value("system"), str):
        return fields.text("system")
    return "\n\n".join(block.text("text") for block in fields.objects("system"))


def _read(message: Fields, visible: Visible) -> None:
    role = message.one_of("role", ("user", "assistant", "system"))
    if not role:
        raise RequestFault(f"{message.at('role')} is missing", param=message.at("role"))
    if isinstance(message.value("content"), str):
        _said(role, message.text("content"), visible)
        return
    blocks = list(message.objects("content"))
    if role == "assistant":
        said = [block.text("text") for block in blocks if block.text("type") == "text"]
        visible.say("\n\n".join(said), list(_calls(blocks)))
        return
    for block in blocks:
        if block.text("type") == "tool_result":
            call_id, failed = block.needed("tool_use_id"), bool(block.flag("is_error"))
            visible.result(call_id, list(_content(block)), block.at("tool_use_id"), failed=failed)
    parts = [_part(block) for block in blocks if block.text("type") != "tool_result"]
    words = "\n\n".join(str(part.data["text"]) for part in parts if part.type == "text")
    media = [part for part in parts if part.type != "text"]
    if parts and (role == "user" or media):
        visible.ask(words, media)
    elif parts:
        visible.instruct(words)


def _said(role: str, text: str, visible: Visible) -> None:
    if role == "assistant":
        visible.say(text)
    elif role == "user":
        visible.ask(text)
    else:
        visible.instruct(text)


def _calls(blocks: list[Fields]) -> Iterator[ToolCall]:
    for block in blocks:
        kind = block.text("type")
        if kind == "tool_use":
            arguments = block.mapping("input") or {}
            yield ToolCall(block.needed("id"), block.needed("name"), arguments, json.dumps(dict(arguments)))
        elif kind != "text" and kind not in _THOUGHTS:
            raise _unknown(block, kind)


def _content(block: Fields) -> Iterator[Part]:
    content = block.value("content")
    if isinstance(content, str):
        yield text_part(content)
        return
    for part in block.objects("content"):
        yield _part(part)


def _part(block: Fields) -> Part:
    kind = block.text("type")
    if kind == "text":
        return text_part(block.text("text"))
    source = block.object("source")
    if kind not in ("image", "document") or source is None:
        raise _unknown(block, kind)
    way, name = source.text("type"), block.text("title")
    if way == "text":
        resource = {
            "uri": f"attachment:{name or 'document'}",
            "mimeType": "text/plain",
            "text": source.text("data"),
        }
        return Part("resource", {"type": "resource", "resource": resource})
    if way != "base64":
        why = f"{source.at('type')} {way!r} cannot be taken: nothing is fetched or kept here, send base64"
        raise RequestFault(why, param=source.at("type"))
    return media_part(source.needed("media_type"), source.needed("data"), source.at("data"), name)


def _unknown(block: Fields, kind: str) -> RequestFault:
    return RequestFault(f"{block.at('type')} {kind!r} cannot be taken here", param=block.at("type"))


def _tools(fields: Fields) -> Iterator[ToolSpec]:
    for tool in fields.objects("tools"):
        kind = tool.text("type", "custom")
        if kind != "custom":
            why = "choose a preset or a route that enables the provider's own tools, or send a tool of yours"
            raise RequestFault(
                f"{tool.at('type')} {kind!r} cannot be taken here: {why}", param=tool.at("type")
            )
        schema = tool.mapping("input_schema") or {"type": "object", "properties": {}}
        strict = bool(tool.flag("strict"))
        yield ToolSpec("", tool.needed("name"), tool.text("description"), schema, strict=strict)


def _choice(choice: Fields | None) -> ToolChoice:
    kind = "auto" if choice is None else choice.one_of("type", ("auto", "any", "tool", "none"))
    if choice is not None and kind == "tool":
        return ("", choice.needed("name"))
    if kind == "none":
        return "none"
    return "required" if kind == "any" else "auto"


def _thinking(fields: Fields, warnings: list[str]) -> tuple[ReasoningEffort | None, bool]:
    """The effort, and whether thoughts are to be shown."""
    thinking = fields.object("thinking")
    if thinking is None:
        return None, False
    kind = thinking.text("type")
    if kind == "disabled":
        return "none", False
    budget = thinking.whole("budget_tokens")
    if budget is None:
        return None, True
    levels: list[ReasoningEffort] = [effort for most, effort in _BUDGETS if budget <= most]
    effort: ReasoningEffort = levels[0] if levels else "high"
    warnings.append(f"thinking.budget_tokens is asked for as the effort {effort!r}")
    return effort, True


def _schema(form: Fields | None) -> Mapping[str, Any] | None:
    if form is None:
        return None
    schema = form.mapping("schema")
    if form.text("type") != "json_schema" or schema is None:
        raise RequestFault(f"{form.at('schema')} is missing", param=form.at("schema"))
    return schema
