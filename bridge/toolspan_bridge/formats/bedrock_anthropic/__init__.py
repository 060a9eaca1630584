"""Claude by Bedrock's InvokeModel: Anthropic's Messages body, with its version inside and the model outside.

Source: botocore 1.44.5 (``bedrock-runtime``, ``InvokeModel``) and anthropic 2.12.0, ``lib/bedrock``. The
version is the one that every Claude on Bedrock knows. Anthropic's own tools do not run there.
"""

from __future__ import annotations

from ..shared.bedrock_errors import parse_error
from ..shared.claude.answer_schema import takes_answer_schema
from ..shared.claude.render import render_tools
from ..shared.claude.tools import losses, restore
from .parse import parse_reply
from .render import render_request, request_notes
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
    "takes_answer_schema",
]
