"""Anthropic's Messages API.

Source: anthropic 2.12.0, ``types/``, and the errors that the API is seen to give where its documentation is
silent. A turn that pauses (``pause_turn``: the provider's own tools took long) has ``stop`` ``pause``: as the
last message of the next request it goes back unchanged, and the model goes on.
"""

from __future__ import annotations

from ..shared.claude.answer_schema import takes_answer_schema
from ..shared.claude.parse import parse_error
from ..shared.claude.render import render_tools
from ..shared.claude.tools import losses, restore
from .builtins import BUILTINS, defers_tools
from .parse import parse_reply
from .render import render_request, request_notes
from .stream import parse_stream

__all__ = [
    "BUILTINS",
    "defers_tools",
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
