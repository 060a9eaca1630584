"""Amazon Bedrock's Converse: one shape for many vendors' models.

Source: botocore 1.44.5, the service model of ``bedrock-runtime``. Schemas are made fit for Claude, whose
rules are the narrowest. Images and documents are base64, as the REST API takes them. There is no switch for
parallel calls, and none of the providers' own tools.
"""

from __future__ import annotations

from ..shared.bedrock_errors import parse_error
from ..shared.claude.tools import losses, restore
from .options import request_notes, takes_answer_schema
from .parse import parse_reply
from .render import render_request, render_tools
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
