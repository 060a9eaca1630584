"""Requests that browsers make for pages of others are refused: cross-site request forgery, and probes.

The guard compares ``Host`` and ``Origin`` with what is served; this is narrower, since our page is the only
one that is to talk to the API: another program's page on loopback, at another port, is another origin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolspan_server.http_server.asgi import RefusedResponse

if TYPE_CHECKING:
    from toolspan_server.http_server.asgi import Scope

_OWN = frozenset({b"same-origin", b"none"})
FOREIGN = RefusedResponse(403, "Requests of another site's pages are not allowed")
_SAFE = frozenset({"GET", "HEAD"})


def refusal(scope: Scope) -> RefusedResponse | None:
    """Why the request is refused, if it is of a page that is not ours.

    A link that leads here from elsewhere (a navigation that only reads) is followed.
    """
    headers = dict(scope["headers"])
    origin, host = headers.get(b"origin"), headers.get(b"host", b"")
    if origin is not None and origin.partition(b"://")[2].lower() != host.lower():
        return FOREIGN
    site = headers.get(b"sec-fetch-site")
    if site is None or site in _OWN:
        return None
    if headers.get(b"sec-fetch-mode") == b"navigate" and headers.get(b"sec-fetch-dest") == b"document":
        return None if scope["method"] in _SAFE else FOREIGN
    return FOREIGN
