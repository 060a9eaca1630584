"""Ollama's own ``/api/chat``.

Source: ollama v0.33.0-rc2, ``api/types.go`` and ``server/``. Its server drops most schema keywords without a
word, so references are inlined and constraints are written into descriptions.
"""

from __future__ import annotations

from .errors import parse_error
from .parse import parse_reply
from .render import (
    losses,
    render_request,
    render_tools,
    request_notes,
    restore,
)
from .stream import parse_stream

__all__ = [
    "losses",
    "parse_error",
    "parse_reply",
    "parse_stream",
    "render_request",
    "render_tools",
    "request_notes",
    "restore",
]
