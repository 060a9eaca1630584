"""Wire formats: pure functions between messages and a provider's JSON. One folder or module a format.

Each module offers the same names; ``Format`` is that contract:

    render_tools(tools, names) -> JSON            the exact tool payload
    render_request(request, names) -> JSON        the whole request body
    parse_reply(body) -> Reply                    one answer; raises ``FormatError`` when it is none
    parse_stream() -> StreamParser                reads a streamed answer; ``end()`` gives the same ``Reply``
    parse_error(status, headers, body) -> WireError
    losses(tools) -> list[Loss]                   what the payload cannot say
    restore(tool, arguments) -> arguments         what the payload changed, undone

``names`` is the table that maps tools to wire names and back (``toolspan_bridge.formats.names``).
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, cast

from ..messages import Part, Request, ToolCall, ToolSpec, User
from .names import NameTable
from .shared.contract import (
    Format,
    FormatError,
    Loss,
    StreamFailed,
    StreamParser,
    WireError,
)
from .shared.json_values import as_list, as_object

__all__ = [
    "TOO_MANY_TOOLS",
    "Format",
    "FormatError",
    "Loss",
    "StreamFailed",
    "StreamParser",
    "WireError",
    "builtin_names",
    "called_tool",
    "changed_tools",
    "defers_tools",
    "format_names",
    "get_format",
    "left_out_files",
    "max_tools",
    "mixes_builtins",
    "request_notes",
    "takes_answer_schema",
    "takes_builtin",
]

TOO_MANY_TOOLS = "too-many-tools"
"""The rule of a loss that is none of a question: a search finds the tools beyond what is sent at once."""
_MOST_CHANGED = 5
_REPAIRED = frozenset(("all-of", "boolean-schema", "required-unknown", "root-ref", "root-type"))
"""Rules by which a tool is repaired that the provider would refuse as it is."""
_SHARED = {"names", "shared"}
_NATIVE = re.compile(r"\Anative\.[^:]*:")


@cache
def format_names() -> tuple[str, ...]:
    """Every format's name, sorted."""
    modules = (m.name for m in pkgutil.iter_modules(__path__))
    found = (name for name in modules if name not in _SHARED)
    return tuple(sorted(name.replace("_", "-") for name in found))


@cache
def builtin_names(name: str) -> frozenset[str]:
    """The provider's own tools that the format ``name`` can switch on; none where there is no such format."""
    try:
        return frozenset(getattr(get_format(name), "BUILTINS", ()))
    except KeyError:
        return frozenset()


def mixes_builtins(name: str, model: str) -> bool:
    """Whether requests for ``model`` in the format ``name`` may hold built-in tools beside others."""
    mixes = getattr(get_format(name), "mixes", None)
    return mixes is None or bool(mixes(model))


def takes_builtin(name: str, request: Request, builtin: str) -> bool:
    """Whether the format ``name`` puts the provider's own tool ``builtin``, which ``request`` has, into the
    request of its model."""
    if builtin not in builtin_names(name):
        return False
    fit = getattr(get_format(name), "fitted", None)
    return fit is None or builtin in fit(request)[0].builtins


def takes_answer_schema(name: str, request: Request) -> bool:
    """Whether the format ``name`` writes ``request.answer_schema`` into the request of its model."""
    takes = getattr(get_format(name), "takes_answer_schema", None)
    return takes is not None and bool(takes(request))


def defers_tools(name: str, model: str) -> bool:
    """Whether requests for ``model`` in the format ``name`` may leave tools to the provider's own search."""
    defers = getattr(get_format(name), "defers_tools", None)
    return defers is not None and bool(defers(model))


def max_tools(name: str) -> int | None:
    """The most tools that the provider of the format ``name`` takes; ``None`` where no limit is known."""
    name = _NATIVE.sub("", name)
    if name not in format_names():
        return None
    most: int | None = getattr(
        import_module(f"{__name__}.{name.replace('-', '_')}.render"), "MAX_TOOLS", None
    )
    return most


def request_notes(name: str, request: Request) -> tuple[str, ...]:
    """What of ``request`` its model does not take in the format ``name``, for people to read."""
    notes = getattr(get_format(name.rpartition(":")[2]), "request_notes", None)
    return () if notes is None else tuple(notes(request))


def changed_tools(wire: Format, tools: Sequence[ToolSpec]) -> Iterator[str]:
    """Notes on those of ``tools`` that the format ``wire`` leaves out, and on those that it repairs; nothing
    of those beyond what is sent at once, which a search finds."""
    keys = NameTable.of(tools).as_dict()
    lost: dict[str, list[str]] = {}
    for loss in wire.losses(tools):
        server, name = keys[loss.tool]
        whose = f"{name!r} of {server}" if server else repr(name)
        if loss.severity == "error" and loss.rule != TOO_MANY_TOOLS:
            yield f"the tool {whose} is left out: {loss.repair} (at {loss.pointer or 'the root'})"
        elif loss.rule in _REPAIRED:
            lost.setdefault(whose, []).append(f"{loss.repair} (at {loss.pointer or 'the root'})")
    for whose, repairs in list(lost.items())[:_MOST_CHANGED]:
        more = f", and {len(repairs) - 1} more" if len(repairs) > 1 else ""
        yield f"the tool {whose} is sent changed: {repairs[0]}{more}"
    if len(lost) > _MOST_CHANGED:
        yield f"{len(lost) - _MOST_CHANGED} more tools are sent changed (`toolspan lint` says how)"


def left_out_files(name: str, request: Request) -> tuple[Part, ...]:
    """The images, sounds and documents of the last question in ``request`` whose content its model does not
    get in the format ``name``: a few words stand for them."""
    question = request.messages[-1]
    parts = question.parts if isinstance(question, User) else ()
    files = [(part, data) for part in parts if (data := _file_data(part))]
    if not files:
        return ()
    body = get_format(name).render_request(request, NameTable.of(request.tools))
    texts = list(_texts(body.get("messages") or body.get("contents") or body.get("input")))
    return tuple(part for part, data in files if not any(data in text for text in texts))


def _file_data(part: Part) -> str:
    """The base64 of a file; empty for a text."""
    resource = part.data.get("resource")
    data = part.data.get("data") if resource is None else resource.get("blob")
    return data if isinstance(data, str) else ""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in (*(as_object(value) or {}).values(), *(as_list(value) or ())):
        yield from _texts(each)


def called_tool(
    call: ToolCall, tools: Sequence[ToolSpec], format_name: str = ""
) -> tuple[ToolSpec, Mapping[str, Any] | None] | None:
    """The one of ``tools`` that a model means by ``call`` (``NameTable.called``), and its arguments as the
    tool's own schema has them, whatever the format ``format_name`` changed; ``None`` when there is none."""
    tool = NameTable.of(tools).called(call.name)
    if tool is None:
        return None
    if call.arguments is None or not format_name:
        return tool, call.arguments
    return tool, get_format(format_name).restore(tool, call.arguments)


@cache
def get_format(name: str) -> Format:
    """The format ``name``. Raises ``KeyError`` when there is none.

    ``prompt:NAME`` is ``prompt`` over the messages of the format ``NAME``; without one they are ``openai``.
    ``prompt.WORDING`` in place of ``prompt`` chooses how the tools are told of. ``native.RENDERING:NAME`` is
    ``NAME``: the provider that is called so has put the calls of earlier turns into that rendering.
    """
    name = _NATIVE.sub("", name)
    over, _, base = name.partition(":")
    over, _, wording = over.partition(".")
    if over == "prompt" and (base or wording) and base != over:
        return _prompt_over(base or "openai", wording)
    if name not in format_names():
        raise KeyError(name)
    return cast("Format", import_module(f"{__name__}.{name.replace('-', '_')}"))


def _prompt_over(base: str, wording: str) -> Format:
    from .prompt.prompted import Prompted
    from .prompt.wordings import DEFAULT

    return Prompted(get_format(base), base, wording or DEFAULT)
