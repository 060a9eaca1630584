"""The body of a Messages request."""

from __future__ import annotations

from typing import Any

from ...messages import Request
from ..names import NameTable
from ..shared.claude.render import request_body
from ..shared.claude.render import request_notes as claude_notes
from ..shared.json_values import clean_object
from .builtins import builtin_notes, builtin_tools, with_search
from .parse import FORMAT


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /v1/messages``.

    The API insists on ``max_tokens``: where none is set, it is what every model of that family can write,
    4096 where the name is unknown. Where a model cannot be made to call a tool, ``required`` and a named
    tool become ``auto`` and a sentence in the system prompt. ``temperature`` is sent only where it is set,
    and the model takes it.
    """
    body = request_body(request, names, FORMAT, builtin_tools(request), search=with_search)
    streamed = {"stream": True} if request.stream else {}
    return clean_object({"model": request.model, **streamed, **body})


def request_notes(request: Request) -> tuple[str, ...]:
    """What of ``request`` its model does not take, for people to read."""
    return (*claude_notes(request, FORMAT), *builtin_notes(request))
