"""Gemini, ``v1beta``, with schemas in ``parametersJsonSchema``; Vertex AI uses it too.

Source: the v1beta discovery document of 2026-08-16 and google-genai 3.4.0. ``v1`` does not know
``parametersJsonSchema``. Only the keywords that its documentation lists are sent; the rest is described.
"""

from __future__ import annotations

from .errors import parse_error
from .options import takes_answer_schema
from .parse import parse_reply
from .render import (
    BUILTINS,
    MAX_TOOLS,
    losses,
    mixes,
    render_request,
    render_tools,
    request_notes,
    restore,
)
from .stream import parse_stream

__all__ = [
    "BUILTINS",
    "MAX_TOOLS",
    "losses",
    "mixes",
    "parse_error",
    "parse_reply",
    "parse_stream",
    "render_request",
    "render_tools",
    "request_notes",
    "restore",
    "takes_answer_schema",
]
