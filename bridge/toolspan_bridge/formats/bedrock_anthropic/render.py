"""The body of an InvokeModel request to Claude."""

from __future__ import annotations

from typing import Any

from ...messages import Request
from ..names import NameTable
from ..shared.claude.media import BEDROCK_ROOM
from ..shared.claude.render import Place, request_body
from ..shared.claude.render import request_notes as claude_notes
from ..shared.json_values import clean_object
from .parse import FORMAT

VERSION = "bedrock-2023-05-31"


_PLACE = Place(BEDROCK_ROOM, marks_end=False)
_BETA = "thinking-binding-controls-2026-08-01"


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /model/{modelId}/invoke`` and ``…/invoke-with-response-stream``: as ``anthropic``,
    but the model, and whether to stream, are in the address only, and betas are named in the body."""
    body = request_body(request, names, FORMAT, place=_PLACE)
    betas = {"anthropic_beta": [_BETA]} if "block_binding" in body.get("thinking", {}) else {}
    return clean_object({"anthropic_version": VERSION, **betas, **body})


def request_notes(request: Request) -> tuple[str, ...]:
    """What of ``request`` its model does not take, for people to read."""
    return claude_notes(request, FORMAT)
