"""The body of a Messages request."""

from __future__ import annotations

from typing import Any

from ...messages import Request
from ..names import NameTable
from ..shared.claude.models import family
from ..shared.claude.render import request_body
from ..shared.claude.render import request_notes as claude_notes
from ..shared.json_values import clean_object
from .parse import FORMAT

BUILTINS = {
    "code_execution": {"type": "code_execution_20250825", "name": "code_execution"},
    "web_fetch": {"type": "web_fetch_20250910", "name": "web_fetch"},
    "web_search": {"type": "web_search_20250305", "name": "web_search"},
}
"""Tools that Anthropic runs itself, in the versions that every model which has them takes: later ones of the
web tools run code over what they find."""


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /v1/messages``.

    The API insists on ``max_tokens``: where none is set, it is what every model of that family can write,
    4096 where the name is unknown. Where a model cannot be made to call a tool, ``required`` and a named
    tool become ``auto`` and a sentence in the system prompt. ``temperature`` is sent only where it is set,
    and the model takes it.
    """
    builtins = [BUILTINS[name] for name in _served(request)]
    body = request_body(request, names, FORMAT, builtins)
    streamed = {"stream": True} if request.stream else {}
    return clean_object({"model": request.model, **streamed, **body})


def request_notes(request: Request) -> tuple[str, ...]:
    """What of ``request`` its model does not take, for people to read."""
    missing = [
        name for name in dict.fromkeys(request.builtins) if name in BUILTINS.keys() - set(_served(request))
    ]
    left_out = (f"{request.model} has no {name} of its own: it is left out" for name in missing)
    return (*claude_notes(request), *left_out)


def _served(request: Request) -> list[str]:
    served = family(request.model).served
    return [name for name in dict.fromkeys(request.builtins) if name in BUILTINS and name in served]
