"""The routes of the page: ``/ui/`` and the files below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from .assets import INDEX, Asset, assets

PLACE = "/ui/"

SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data: blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""What the page may load: its own files, and pictures that a person attached (CSP level 3)."""

_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}


def page_routes() -> Sequence[BaseRoute]:
    """Routes that serve the page at ``/ui/``; ``/`` and ``/ui`` lead there."""
    found = assets()
    return (
        Route("/", _to_the_page),
        Route(PLACE.rstrip("/"), _to_the_page),
        Route(PLACE + "{path:path}", partial(_file, found)),
    )


async def _to_the_page(request: Request) -> Response:
    return RedirectResponse(PLACE, 307)


async def _file(found: Mapping[str, Asset], request: Request) -> Response:
    """The file that is named: only one of ``found`` is ever given, whatever the path says."""
    asset = found.get(request.path_params["path"] or INDEX)
    if asset is None:
        return Response("There is no such file of the page.\n", 404, _HEADERS, "text/plain")
    headers = _HEADERS | {"ETag": asset.tag}
    if asset.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(asset.compressed, 200, headers | {"Content-Encoding": "gzip"}, asset.media_type)
    return Response(asset.content, 200, headers, asset.media_type)
