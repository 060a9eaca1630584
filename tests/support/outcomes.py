"""Tool outcomes for tests: what a tool came to, in one short call."""

from __future__ import annotations

import base64
from typing import Any

from toolspan_bridge.messages import Part, ToolOutcome

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(60)).decode()
JPEG = base64.b64encode(b"\xff\xd8\xff\xe0" + bytes(60)).decode()
PDF = base64.b64encode(b"%PDF-1.7\n" + bytes(60)).decode()
WAV = base64.b64encode(b"RIFF\x44\x00\x00\x00WAVEfmt " + bytes(52)).decode()
SVG = base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg'/>").decode()


def part(kind: str, **data: Any) -> Part:
    return Part(kind, {"type": kind, **data})


def said(text: str) -> Part:
    return part("text", text=text)


def image(data: str = PNG, mime: str = "image/png") -> Part:
    return part("image", data=data, mimeType=mime)


def succeeded(*parts: Part, call_id: str = "c1", result: Any = None, structured: Any = None) -> ToolOutcome:
    whole = {"success": True, "result": result, "tool_name": "t", "execution_time_ms": 1}
    return ToolOutcome(call_id, "t", whole, parts, structured)


def failed(*parts: Part, call_id: str = "c1", error: str = "it broke", action: str = "") -> ToolOutcome:
    whole = {"success": False, "error": error, "error_code": "execution_error", "user_action": action}
    return ToolOutcome(call_id, "t", {**whole, "tool_name": "t", "execution_time_ms": 1}, parts)
