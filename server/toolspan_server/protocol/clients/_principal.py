"""Who a request comes from, so that what belongs to one client is not given to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...calls.caller import LOCAL_USER, PRINCIPAL_KEY, Origin
from ...http_server.auth import PRINCIPAL
from ._progress import RequestContext


def principal(context: RequestContext) -> str | None:
    """The principal that the guard authenticated, or, over stdio, the one that the program on the other side
    names, which its session allowed; ``None`` where nobody has to say who it is."""
    request: Any = context.request
    if request is None:
        meta: Any = (context.params or {}).get("_meta")
        named = meta.get(PRINCIPAL_KEY) if isinstance(meta, Mapping) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]  # any JSON
        return None if named == LOCAL_USER else named  # pyright: ignore[reportUnknownVariableType]  # the same
    known: bytes | None = request.scope.get(PRINCIPAL)
    return None if known is None else known.decode("utf-8", "backslashreplace")


def origin(context: RequestContext) -> Origin:
    """Where the request comes from: its principal, its HTTP session, its client and its token."""
    request: Any = context.request
    handshake = context.session.client_params
    client = None
    if handshake is not None:
        client = {"name": handshake.client_info.name, "version": handshake.client_info.version}
    if request is None:
        return Origin(principal(context), client=client)
    session: str | None = request.headers.get("mcp-session-id")
    header: str = request.headers.get("authorization") or ""
    return Origin(principal(context), session, client, header.encode("latin-1", "replace"))
