"""The page as a part of the app: it is loaded without a token, which the page then asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..part import Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.routing import BaseRoute

    from ..app.state import App


def _routes(app: App) -> Sequence[BaseRoute]:
    from .routes import page_routes

    del app
    return page_routes()


PART = Part(routes=_routes, public=("/", "/ui", "/ui/"), page=True)
