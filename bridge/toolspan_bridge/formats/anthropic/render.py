"""The body of a Messages request."""

from __future__ import annotations

from typing import Any

from ...messages import Request
from ..names import NameTable
from ..shared.claude.render import request_body
from ..shared.json_values import clean_object
from .parse import FORMAT

BUILTINS = {"web_search": {"type": "web_search_20250305", "name": "web_search"}}
"""Tools that Anthropic runs itself. Of the web search's versions, the one that needs no code execution."""


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /v1/messages``.

    The API insists on ``max_tokens``: where none is set, it is what every model of that name can write, 4096
    where the name is unknown. A model that thinks cannot be made to call a tool: ``required`` and a named
    tool become ``auto`` and a sentence in the system prompt. ``temperature`` is sent only where it is set.
    """
    builtins = [BUILTINS[name] for name in dict.fromkeys(request.builtins) if name in BUILTINS]
    body = request_body(request, names, FORMAT, builtins)
    streamed = {"stream": True} if request.stream else {}
    return clean_object({"model": request.model, **streamed, **body})
