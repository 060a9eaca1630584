"""The body of an InvokeModel request to Claude."""

from __future__ import annotations

from typing import Any

from ...messages import Request
from ..names import NameTable
from ..shared.claude.render import request_body
from ..shared.json_values import clean_object
from .parse import FORMAT

VERSION = "bedrock-2023-05-31"


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /model/{modelId}/invoke`` and ``…/invoke-with-response-stream``: as ``anthropic``,
    but the model, and whether to stream, are in the address only."""
    body = request_body(request, names, FORMAT)
    return clean_object({"anthropic_version": VERSION, **body})
