"""``/api/openapi.json`` and ``/api/docs``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from ..app import found
from ..part import Part
from ..problems import encoded
from .description import description
from .page import STYLE, page

if TYPE_CHECKING:
    from starlette.requests import Request

    from ..app.state import App

_JSON, _PAGE, _STYLE = "/api/openapi.json", "/api/docs", "/api/docs.css"


@cache
def _document() -> bytes:
    return encoded(description(found.endpoints()))


@cache
def _shown() -> str:
    return page(description(found.endpoints()))


async def _as_json(_request: Request) -> Response:
    return Response(_document(), media_type="application/json")


async def _as_page(_request: Request) -> Response:
    return HTMLResponse(_shown())


async def _style(_request: Request) -> Response:
    return Response(STYLE, media_type="text/css")


def _routes(_app: App) -> Sequence[BaseRoute]:
    return [Route(_JSON, _as_json), Route(_PAGE, _as_page), Route(_STYLE, _style)]


PART = Part(routes=_routes, public=(_JSON, _PAGE, _STYLE))
