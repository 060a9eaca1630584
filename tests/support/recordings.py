"""Recordings of exchanges with live providers (``TOOLSPAN_RECORD``), read back as requests and answers."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from toolspan_bridge.messages import (
    Assistant,
    Request,
    ToolResults,
    User,
)

FOLDER = Path(__file__).parents[1] / "recordings"
_MESSAGES = {"user": User, "assistant": Assistant, "tool_results": ToolResults}


@dataclass(frozen=True)
class Recording:
    """One exchange: what was asked, its body on the wire, and the bytes of the answer."""

    path: Path
    provider: str
    format: str
    date: str
    asked: Request
    body: dict[str, Any]
    status: int
    streamed: bool
    reply: bytes


def recordings(folder: Path = FOLDER) -> list[Recording]:
    """Every recording in ``folder``, by name."""
    return [read(path) for path in sorted(folder.glob("*.json"))]


def read(path: Path) -> Recording:
    """The recording in ``path``. Raises ``ValueError`` when it is none, or of a newer version."""
    whole = json.loads(path.read_text("utf-8"))
    if whole.get("toolspan_recording") != 1:
        raise ValueError(f"{path} is no recording that can be read")
    reply = b64decode(whole["reply_base64"]) if "reply_base64" in whole else whole["reply"].encode()
    return Recording(
        path,
        whole["provider"],
        whole["format"],
        whole["date"],
        _request(whole["asked"]),
        whole["request"],
        whole["status"],
        # an error, or a whole answer in place of a stream, is one document
        whole["streamed"] and whole["status"] == 200 and not _is_document(whole["content_type"]),
        reply,
    )


def _is_document(content_type: str) -> bool:
    return content_type.split(";")[0].strip() == "application/json"


def _request(asked: dict[str, Any]) -> Request:
    if unknown := set(asked) - set(Request.__slots__):
        raise ValueError(f"a recorded request holds what no request has: {', '.join(sorted(unknown))}")
    messages = tuple(_message(dict(message)) for message in asked.pop("messages"))
    hints = get_type_hints(Request)
    read = {name: _adapter(hints[name]).validate_python(value) for name, value in asked.items()}
    return Request(**read, messages=messages)


def _message(message: dict[str, Any]) -> Any:
    return _adapter(_MESSAGES[message.pop("role")]).validate_python(message)


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
