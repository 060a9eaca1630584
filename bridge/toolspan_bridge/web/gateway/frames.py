"""Frames of server-sent events (HTML, Server-sent events), as bytes."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["RETRACTED", "comment", "frame"]

RETRACTED = "retracted: the last text before this is no part of the answer"
"""What a stream says of text that cannot be taken back."""


def frame(data: Any, event: str = "") -> bytes:
    """One event with ``data`` as JSON."""
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {written}\n\n".encode("utf-8", "replace")


def comment(text: str) -> bytes:
    """A comment, which clients pass over."""
    lines = text.replace("\r", "\n").split("\n")
    return ("".join(f": {line}\n" for line in lines) + "\n").encode("utf-8", "replace")
