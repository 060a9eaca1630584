"""Requests that are refused before any endpoint: how that is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..problems import MEDIA_TYPE, Problem, encoded

if TYPE_CHECKING:
    from toolspan_server.http_server.asgi import RefusedResponse, Render, Scope

    from ..part import Part


def as_problem(refused: RefusedResponse) -> tuple[bytes, bytes]:
    """A refusal as a problem: its media type and its body."""
    return MEDIA_TYPE.encode(), encoded(Problem(refused.status, refused.message).as_dict())


def render_of(parts: Sequence[Part], scope: Scope) -> Render:
    """What writes the refusals of a request, whose path may not be known: its part's way, else a problem."""
    path = scope.get("path", "")
    for part in parts:
        if part.refusals is not None and part.errors_under and path.startswith(part.errors_under):
            refusals = part.refusals
            return lambda refused: refusals(scope, refused)
    return as_problem
