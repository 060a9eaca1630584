"""A Responses request, read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ....messages import Part, ToolSpec
from ..asked import Asked
from ..faults import RequestFault
from ..history.hidden import Hidden
from ..media import data_url_part, text_part
from ..openai_chat.parse import function_spec, schema_of, tool_choice
from ..parameters import RESPONSES
from ..reading import Fields
from ..shared import Visible, arguments_of, checked_tools, effort_of, told_left_out
from ..text_tools import text_call, text_tool
from .render import response_of_item

__all__ = ["Earlier", "parse_request"]

Earlier = Callable[[str], Hidden]
"""What a client has seen up to and with the response of an id. Raises ``RequestFault`` if it is not kept."""

_TAKEN = ("custom", "function", "namespace")
_PROVIDERS_OWN = frozenset(
    {
        "code_interpreter_call",
        "compaction",
        "file_search_call",
        "image_generation_call",
        "mcp_approval_request",
        "mcp_call",
        "mcp_list_tools",
        "tool_search_call",
        "tool_search_output",
        "web_search_call",
    }
)
"""The items of tools that a provider runs itself."""
_ENCRYPTED = "reasoning.encrypted_content"
_LOG_PROBABILITIES = "message.output_text.logprobs"
_MOST_IN_NAME = 100
_WORDS = ("input_text", "output_text", "text", "refusal", "summary_text")
_ECHOED = ("instructions", "metadata", "reasoning", "text", "tools", "top_p", "truncation", "user")


def parse_request(body: Any, earlier: Earlier) -> Asked:
    """What the request asks, after what was seen ``earlier``. Raises ``RequestFault`` that says what of it is
    wrong, or cannot be done."""
    fields = Fields(body)
    settings = RESPONSES.read(fields)
    fields.ignore("stream_options")
    fields.object("metadata")  # given back as it is
    if _LOG_PROBABILITIES in (included := fields.texts("include")):
        why = f"include: {_LOG_PROBABILITIES}: no log probabilities are known here"
        raise RequestFault(why, param="include", code="unsupported_parameter")
    if set(included) <= {_ENCRYPTED}:
        fields.ignore("include")  # thoughts are kept here and put back
    warnings: list[str] = []
    previous = fields.text("previous_response_id")
    visible = Visible(fields.text("instructions"), list(earlier(previous).messages if previous else ()))
    visible.know_calls()
    given = list(fields.objects("tools"))
    warnings += told_left_out(given, _TAKEN)
    namespaces = _namespaces(given)
    warnings += _read_input(fields, visible, earlier)
    reasoning, text = fields.object("reasoning"), fields.object("text")
    effort = effort_of(reasoning.text("effort"), "reasoning.effort", warnings) if reasoning else None
    thoughts = bool(reasoning and (reasoning.text("summary") or reasoning.text("generate_summary")))
    form = text.object("format") if text else None
    verbosity = text.text("verbosity", most=_MOST_IN_NAME) if text else ""
    warnings += [each for part in (reasoning, text) if part is not None for each in part.unread()]
    choice, tools = tool_choice(fields, checked_tools(_tools(given), "tools"))
    return Asked(
        fields.needed("model"),
        visible.asked("input"),
        visible.system,
        tools,
        choice,
        fields.flag("parallel_tool_calls"),
        fields.whole("max_output_tokens"),
        fields.number("temperature", 2),
        stream=bool(fields.flag("stream")),
        include_usage=True,
        reasoning=effort,
        thoughts=thoughts,
        answer_schema=schema_of(form) if form else None,
        previous=previous,
        store=fields.flag("store") is not False,
        trim=fields.one_of("truncation", ("auto", "disabled"), "disabled") == "auto",
        echo={name: fields.value(name) for name in _ECHOED},
        text_tools=frozenset(each.text("name") for each in given if each.text("type") == "custom"),
        namespaces=namespaces,
        malformed_calls=True,
        settings=settings | ({"verbosity": verbosity} if verbosity else {}),
        warnings=(*warnings, *fields.unread()),
    )


def _read_input(fields: Fields, visible: Visible, earlier: Earlier) -> list[str]:
    """Read the items; warnings about those that are left out."""
    given = fields.value("input")
    if isinstance(given, str):
        visible.ask(given)
        return []
    left_out = list[str]()
    for item in fields.objects("input"):
        kind = item.text("type") or ("message" if item.value("role") else "item_reference")
        if kind in _PROVIDERS_OWN:
            left_out.append(f"{item.at('type')} {kind!r} is left out: it is of a tool of the provider's own")
        else:
            _read_item(_referred(item, earlier) if kind == "item_reference" else item, visible)
    return left_out


def _referred(item: Fields, earlier: Earlier) -> Fields:
    """The item of a stored response that ``item`` refers to. Raises ``RequestFault``."""
    item_id = item.needed("id")
    with suppress(RequestFault):
        output = (earlier(response_of_item(item_id)).body or {}).get("output", ())
        for found in output:
            if found["id"] == item_id:
                return Fields(found, item.at("id"))
    why = f"the item {item_id[:100]!r} is of no response that is stored: send it whole"
    raise RequestFault(f"{item.at('id')}: {why}", param=item.at("id"), code="item_not_found")


def _read_item(item: Fields, visible: Visible) -> None:
    kind = item.text("type", "message")
    if kind == "message":
        _read_message(item, visible)
    elif kind == "function_call":
        name = _joined(item.text("namespace"), item.needed("name"))
        call = arguments_of(item.needed("call_id"), name, item.text("arguments"))
        visible.say("", [call])
    elif kind == "custom_tool_call":
        visible.say("", [text_call(item.needed("call_id"), item.needed("name"), item.text("input"))])
    elif kind in ("function_call_output", "custom_tool_call_output"):
        call_id = item.needed("call_id")
        visible.result(call_id, list(_parts(item, "output")), item.at("call_id"))
    elif kind != "reasoning":
        raise RequestFault(f"{item.at('type')} {kind!r} cannot be taken here", param=item.at("type"))


def _read_message(item: Fields, visible: Visible) -> None:
    role = item.one_of("role", ("user", "assistant", "system", "developer"))
    parts = list(_parts(item, "content"))
    words = "\n\n".join(str(part.data["text"]) for part in parts if part.type == "text")
    media = [part for part in parts if part.type != "text"]
    if media and role != "user":
        raise RequestFault(f"{item.at('content')} may hold only text here", param=item.at("content"))
    if role == "user":
        visible.ask(words, media)
    elif role == "assistant":
        visible.say(words)
    elif role:
        visible.instruct(words)
    else:
        raise RequestFault(f"{item.at('role')} is missing", param=item.at("role"))


def _parts(item: Fields, name: str) -> Iterator[Part]:
    content = item.value(name)
    if isinstance(content, str):
        yield text_part(content)
        return
    for part in item.objects(name):
        yield _part(part)


def _part(part: Fields) -> Part:
    kind = part.text("type")
    if kind in _WORDS:
        return text_part(part.text("refusal" if kind == "refusal" else "text"))
    part.refuse("file_id", "no files are kept here: send the data")
    if kind == "input_image":
        return data_url_part(part.needed("image_url"), part.at("image_url"))
    if kind == "input_file":
        part.refuse("file_url", "nothing is fetched here: send `file_data`")
        return data_url_part(part.needed("file_data"), part.at("file_data"), part.text("filename"))
    raise RequestFault(f"{part.at('type')} {kind!r} cannot be taken here", param=part.at("type"))


def _tools(given: Sequence[Fields]) -> Iterator[ToolSpec]:
    for tool in given:
        kind = tool.text("type")
        if kind == "custom":
            yield text_tool(tool)
        elif kind == "function":
            yield function_spec(tool)
        elif kind == "namespace":
            namespace, about = tool.needed("name"), tool.text("description")
            for inner in tool.objects("tools"):
                spec = function_spec(inner)
                described = "\n\n".join(filter(None, (spec.description, about)))
                yield replace(spec, name=_joined(namespace, spec.name), description=described)


def _namespaces(given: Sequence[Fields]) -> dict[str, tuple[str, str]]:
    """The namespace of each tool that is in one, and its name there, by its name here."""
    spaces = [(tool.needed("name"), tool) for tool in given if tool.text("type") == "namespace"]
    inner = [(space, each.needed("name")) for space, tool in spaces for each in tool.objects("tools")]
    return {_joined(space, name): (space, name) for space, name in inner}


def _joined(namespace: str, name: str) -> str:
    """The name of a tool of ``namespace`` among all tools."""
    return f"{namespace.removesuffix('__')}__{name}" if namespace else name
