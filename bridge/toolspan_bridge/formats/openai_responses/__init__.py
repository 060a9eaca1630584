"""OpenAI Responses, without state on its side: every request carries the whole conversation.

Source: the openai 3.54.0 client's types and OpenAI's ``openapi.json`` of 2026-08-21. What the model gave is
sent back item by item, with its encrypted reasoning: a call without the reasoning before it is refused.
"""

from __future__ import annotations

from ..shared.openai_errors import parse_error
from .builtin_tools import BUILTINS
from .fit import fitted, request_notes
from .parse import parse_reply
from .render import defers_tools, losses, render_request, render_tools, restore, takes_answer_schema
from .stream import parse_stream

__all__ = [
    "BUILTINS",
    "defers_tools",
    "fitted",
    "losses",
    "parse_error",
    "parse_reply",
    "parse_stream",
    "render_request",
    "render_tools",
    "request_notes",
    "restore",
    "takes_answer_schema",
]
