"""A request as it is on the wire."""

from __future__ import annotations

import json
import marshal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from toolspan_server.common.beside_loop import LARGE_BYTES

from ...formats.shared.identity import IdentityKey
from ...messages import Assistant, Message, Request, ToolResults, ToolSpec

_OF_A_MESSAGE = 256
"""Writing a message takes as long as so many bytes of a schema, whatever its text."""
_BESIDE_SCHEMAS = 16
"""Writing a schema takes so many times as long as writing a text of its size."""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A request as it is sent: address, headers (the key among them), and the exact bytes of the body."""

    url: str
    headers: Mapping[str, str]
    body: bytes


def encode(body: Any) -> bytes:
    """``body`` as compact JSON. Lone surrogates, which UTF-8 cannot encode, become ``?``."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def weight(request: Request) -> int:
    """How long ``request`` takes to be written, in bytes of schemas of tools. Where one has references, that
    is not known from its size."""
    schema = 0 if request.answer_schema is None else _weight_of_schema(request.answer_schema)
    return schema + weight_of_parts(request.messages, request.tools)


def weight_of_parts(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> int:
    """The same of its ``messages`` and ``tools``."""
    found = _weight_of_tools(IdentityKey(tools)) if tools else 0
    for message in messages:
        if isinstance(message, ToolResults):
            found += _OF_A_MESSAGE * sum(1 + len(outcome.parts) for outcome in message.outcomes)
            continue
        inner = message.calls if isinstance(message, Assistant) else message.parts
        found += _OF_A_MESSAGE * (1 + len(inner)) + len(message.text) // _BESIDE_SCHEMAS
    return found


@lru_cache(maxsize=64)
def _weight_of_tools(tools: IdentityKey[ToolSpec]) -> int:
    return sum(_OF_A_MESSAGE // 4 + _weight_of_schema(tool.schema) for tool in tools.items)


def _weight_of_schema(schema: Mapping[str, Any]) -> int:
    try:
        written = marshal.dumps(cast("Any", schema))
    except ValueError:  # nested too deeply, or of other types than those of plain JSON
        return len(repr(schema))
    return max(len(written), LARGE_BYTES) if b"Ref" in written or b"$ref" in written else len(written)
