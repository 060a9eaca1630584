"""A Messages request, read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ....messages import Message, Part, ReasoningEffort, ToolCall, ToolChoice, ToolSpec
from ..asked import Asked
from ..faults import RequestFault
from ..history.hidden import Hidden
from ..media import media_part, text_part
from ..parameters import MESSAGES
from ..reading import Fields
from ..shared import Visible, checked_tools, effort_of, told_left_out
from .render import THREAD_LOST

__all__ = ["Earlier", "parse_request"]

Earlier = Callable[[str], Hidden]
"""What a client has seen up to and with the message of an id. Raises ``RequestFault`` if it is not kept."""

_BUDGETS: tuple[tuple[int, ReasoningEffort], ...] = ((4_096, "low"), (16_384, "medium"))
_THOUGHTS = ("thinking", "redacted_thinking")
_MOST_IN_NAME = 512
_OF_THREAD = ("system", "tools")
"""What only the first request of a thread has."""


def parse_request(body: Any, earlier: Earlier | None = None, *, counts: bool = False) -> Asked:
    """What the request asks, after what was seen ``earlier`` in its thread; ``counts``: it asks only for its
    tokens. Raises ``RequestFault`` that says what of it is wrong, or cannot be done."""
    fields, before = _in_thread(Fields(body), body, earlier)
    settings = MESSAGES.read(fields)
    settings |= _who(fields.object("metadata"))
    warnings: list[str] = []
    visible = Visible(_system(fields), list(before))
    visible.know_calls()
    for message in fields.objects("messages"):
        _read(message, visible)
    warnings += told_left_out(list(fields.objects("tools")), ("", "custom"))
    choice = fields.object("tool_choice")
    most = fields.whole("max_tokens")
    if most is None and not counts:
        raise RequestFault("max_tokens: field required", param="max_tokens")
    config = fields.object("output_config")
    effort, thoughts = _thinking(fields, warnings)
    if config is not None:
        effort = effort_of(config.text("effort"), "output_config.effort", warnings) or effort
    schema = _schema(config.object("format") if config else None) or _schema(fields.object("output_format"))
    warnings += config.unread() if config else []
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
        store=fields.value("thread") is not None,
        echo={name: fields.value(name) for name in _OF_THREAD},
        settings=settings,
        warnings=(*warnings, *fields.unread()),
    )


def _who(metadata: Fields | None) -> dict[str, Any]:
    """Who asks, as the client says."""
    user = metadata.text("user_id", most=_MOST_IN_NAME) if metadata else ""
    return {"user": user} if user else {}


def _in_thread(fields: Fields, body: Any, earlier: Earlier | None) -> tuple[Fields, Sequence[Message]]:
    """The members of a request with those that its thread has, and the messages before it. Raises
    ``RequestFault``."""
    thread = fields.object("thread")
    if thread is None or thread.one_of("type", ("create", "continue"), "create") == "create":
        return fields, ()
    previous = thread.needed("previous_message_id")
    try:
        kept = earlier(previous) if earlier is not None else None
    except RequestFault:
        kept = None
    if kept is None:
        why = f"thread: the message {previous[:100]!r} is of no thread that is kept: send all messages"
        raise RequestFault(why, status=404, code=THREAD_LOST, param="thread")
    return Fields({**body, **(kept.body or {})}), kept.messages


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
    if kind == "search_result":
        return text_part(_search_result(block))
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
    if way == "content" and not isinstance(source.value("content"), str):
        return text_part("\n\n".join(part.text("text") for part in source.objects("content")))
    if way != "base64":
        why = f"{source.at('type')} {way!r} cannot be taken: nothing is fetched or kept here, send base64"
        raise RequestFault(why, param=source.at("type"))
    return media_part(source.needed("media_type"), source.needed("data"), source.at("data"), name)


def _search_result(block: Fields) -> str:
    found = "\n\n".join(part.text("text") for part in block.objects("content"))
    return f"{block.text('title')} ({block.text('source')})\n\n{found}"


def _unknown(block: Fields, kind: str) -> RequestFault:
    return RequestFault(f"{block.at('type')} {kind!r} cannot be taken here", param=block.at("type"))


def _tools(fields: Fields) -> Iterator[ToolSpec]:
    for tool in fields.objects("tools"):
        if tool.text("type", "custom") != "custom":
            continue
        schema = tool.schema("input_schema") or {"type": "object", "properties": {}}
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
    kind = thinking.one_of("type", ("adaptive", "enabled", "disabled"), "enabled")
    if kind == "disabled":
        return "none", False
    shown = thinking.text("display") != "omitted"
    budget = thinking.whole("budget_tokens")
    if budget is None:
        return None, shown
    levels: list[ReasoningEffort] = [effort for most, effort in _BUDGETS if budget <= most]
    effort: ReasoningEffort = levels[0] if levels else "high"
    warnings.append(f"thinking.budget_tokens is asked for as the effort {effort!r}")
    return effort, shown


def _schema(form: Fields | None) -> Mapping[str, Any] | None:
    if form is None:
        return None
    schema = form.schema("schema")
    if form.text("type") != "json_schema" or schema is None:
        raise RequestFault(f"{form.at('schema')} is missing", param=form.at("schema"))
    return schema
