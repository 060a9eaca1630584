"""Anthropic's Messages API.

Source: anthropic 2.12.0, ``types/``, and the errors that the API is seen to give where its documentation is
silent. A turn that pauses (``pause_turn``: the provider's own tools took long) has ``stop`` ``pause``: as the
last message of the next request it goes back unchanged, and the model goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from typing_extensions import override

from ...messages import Reply, Request, ToolSpec
from ..names import NameTable
from ..shared.claude.parse import read_error, read_message
from ..shared.claude.render import claude_body, claude_tools
from ..shared.claude.stream import MessageStream
from ..shared.contract import Loss, StreamParser, WireError
from ..shared.framing.sse import SseReader
from ..shared.json_values import clean_object
from ..shared.schemas import ANTHROPIC_STRICT, Plan
from ..shared.tools.compiled import Prepared, prepare
from ..shared.tools.compiled import restore as restore_tool

BUILTINS = {"web_search": {"type": "web_search_20250305", "name": "web_search"}}
"""Tools that Anthropic runs itself. Of the web search's versions, the one that needs no code execution."""

_NAME = "anthropic"
_PLAN = Plan(keys=re.compile(r"[A-Za-z0-9_.-]{1,64}"))


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"name", "description"?, "input_schema", "strict"?}]``; strict only where nothing is lost by it."""
    return claude_tools(_prepare(tools, names))


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /v1/messages``.

    The API insists on ``max_tokens``: where none is set, it is what every model of that name can write, 4096
    where the name tells nothing. A model that thinks cannot be made to call a tool: ``required`` and a named
    tool become ``auto`` and a sentence in the system prompt. ``temperature`` is sent only where it is set.
    """
    builtins = [BUILTINS[name] for name in dict.fromkeys(request.builtins) if name in BUILTINS]
    body = claude_body(request, names, _NAME, render_tools(request.tools, names), builtins)
    streamed = {"stream": True} if request.stream else {}
    return clean_object({"model": request.model, **streamed, **body})


def parse_reply(body: Any) -> Reply:
    """``content``, its blocks kept to be sent back. Raises ``FormatError`` when there is none."""
    return read_message(body, _NAME)


def parse_stream() -> StreamParser:
    """Named server-sent events, from ``message_start`` to ``message_stop``."""
    return _Stream(_NAME)


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """``{"type": "error", "error": {"type", "message"}, "request_id"}``, and the tool that it refuses."""
    return read_error(status, headers, body)


def losses(tools: Sequence[ToolSpec]) -> list[Loss]:
    """What Claude's rules for schemas do not allow of ``tools``."""
    return list(_prepare(tools, NameTable.of(tools)).losses)


def restore(tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Unwrapped, keys renamed back, and whole floats as integers."""
    return restore_tool(tool, arguments, _PLAN, ANTHROPIC_STRICT)


def _prepare(tools: Sequence[ToolSpec], names: NameTable) -> Prepared:
    return prepare(tools, names, _PLAN, strict=ANTHROPIC_STRICT)


class _Stream(MessageStream):
    def __init__(self, format_name: str) -> None:
        super().__init__(format_name)
        self._events = SseReader()

    @override
    def _frames(self, chunk: bytes) -> Iterable[str | bytes]:
        return (data for _, data in self._events.feed(chunk))

    @override
    def _last_frames(self) -> Iterable[str | bytes]:
        return (data for _, data in self._events.end())
