"""A part of the app beside the API's endpoints: the page, the gateway, what runs in the background.

A package of ``web`` with a module ``part`` has its ``PART`` there, and is found by looking.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from toolspan_server.http_server.asgi import RefusedResponse, Scope

    from .app.state import App

Refusal = Callable[["Scope", "RefusedResponse"], tuple[bytes, bytes]]
"""Writes the body of a refusal of a request: its media type and its bytes."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a package adds to the app.

    ``routes`` are its routes. ``lifespan`` runs while the app does; what others need of it, it gives them by
    ``App.provide``. ``public`` are the beginnings of paths that need no token, for what a browser loads
    before anybody could give one. ``page``: it belongs to the page, and is left out of ``toolspan gateway``.
    ``refusals`` writes refusals of paths that begin with ``errors_under`` in the shape that its clients
    expect.
    """

    routes: Callable[[App], Sequence[BaseRoute]] | None = None
    lifespan: Callable[[App], AbstractAsyncContextManager[None]] | None = None
    public: tuple[str, ...] = ()
    page: bool = False
    errors_under: str = ""
    refusals: Refusal | None = None
