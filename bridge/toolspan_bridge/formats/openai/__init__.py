"""OpenAI Chat Completions, and every provider compatible with it.

Source: the openai 3.54.0 client's types and OpenAI's ``openapi.json`` of 2026-08-21. Schemas are sent
non-strict: keywords are hints to the model, and the arguments are validated here.
"""

from __future__ import annotations

from ..shared.openai_errors import parse_error
from .fit import fitted, request_notes
from .parse import parse_reply
from .render import BUILTINS, losses, render_request, render_tools, restore, takes_answer_schema
from .stream import parse_stream

__all__ = [
    "BUILTINS",
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
