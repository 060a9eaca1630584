"""Claude by Bedrock's InvokeModel: Anthropic's Messages body, with its version inside and the model outside.

Source: botocore 1.44.5 (``bedrock-runtime``, ``InvokeModel``) and anthropic 2.12.0, ``lib/bedrock``. The
version is the one that every Claude on Bedrock knows. Anthropic's own tools do not run there.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from typing_extensions import override

from ...messages import Reply, Request, ToolSpec
from ..names import NameTable
from ..shared.bedrock_errors import bedrock_error, failure
from ..shared.claude.parse import read_message
from ..shared.claude.render import claude_body, claude_tools
from ..shared.claude.stream import MessageStream
from ..shared.contract import FormatError, Loss, StreamParser, WireError
from ..shared.framing.event_stream import Frame, FrameReader
from ..shared.json_values import at, clean_object, load, snippet, text
from ..shared.schemas import ANTHROPIC_STRICT, Plan
from ..shared.tools.compiled import Prepared, prepare
from ..shared.tools.compiled import restore as restore_tool

VERSION = "bedrock-2023-05-31"
BUILTINS: dict[str, dict[str, Any]] = {}

_NAME = "bedrock-anthropic"
_PLAN = Plan(keys=re.compile(r"[A-Za-z0-9_.-]{1,64}"))


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """As ``anthropic``: ``[{"name", "description"?, "input_schema", "strict"?}]``."""
    return claude_tools(_prepare(tools, names))


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /model/{modelId}/invoke`` and ``…/invoke-with-response-stream``: as ``anthropic``,
    but the model, and whether to stream, are told by the address only."""
    body = claude_body(request, names, _NAME, render_tools(request.tools, names), ())
    return clean_object({"anthropic_version": VERSION, **body})


def parse_reply(body: Any) -> Reply:
    """``content``, its blocks kept to be sent back. Raises ``FormatError`` when there is none."""
    return read_message(body, _NAME)


def parse_stream() -> StreamParser:
    """Binary frames, each with one of Anthropic's events in base64."""
    return _Stream(_NAME)


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """As ``bedrock``: the exception's name from the header or the body, and its message."""
    return bedrock_error(status, headers, body)


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
        self._reader = FrameReader()

    @override
    def _frames(self, chunk: bytes) -> Iterable[str | bytes]:
        for frame in self._reader.feed(chunk):
            if self.finished:
                return
            if (event := _event(frame)) is not None:
                yield event

    @override
    def _last_frames(self) -> Iterable[str | bytes]:
        return ()


def _event(frame: Frame) -> bytes | None:
    """The event in a ``chunk``; ``None`` for frames of other types, unknown here."""
    if (failed := failure(frame)) is not None:
        raise failed
    if frame.header(":event-type") != "chunk":
        return None
    try:
        event = base64.b64decode(text(at(load(frame.payload), "bytes")), validate=True)
    except ValueError:
        event = b""
    if not event:
        raise FormatError(f"a chunk of the event stream cannot be read: {snippet(frame.payload)}")
    return event
