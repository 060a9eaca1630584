"""Who a request comes from, so that what belongs to one client is not given to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ...calls.caller import CLIENT_INFO_KEY, Origin, note_bearer, note_client, note_origin
from ...http_server.auth import PRINCIPAL
from ._progress import RequestContext


def principal(context: RequestContext) -> str | None:
    """The principal that the guard authenticated; ``None`` where no token is required."""
    request: Any = context.request
    if request is None:
        return None
    known: bytes | None = request.scope.get(PRINCIPAL)
    return None if known is None else known.decode("utf-8", "backslashreplace")


def origin(context: RequestContext) -> Origin:
    """Where the request comes from: its principal, and its HTTP session."""
    request: Any = context.request
    if request is None:
        return Origin()
    session: str | None = request.headers.get("mcp-session-id")
    return Origin(principal(context), session)


def note_caller(context: RequestContext) -> None:
    """Let what the current task does be done for the principal and the client of the request, and with its
    token."""
    note_origin(origin(context))
    request: Any = context.request
    header: str | None = None if request is None else request.headers.get("authorization")
    note_bearer(None if header is None else header.encode("latin-1", "replace"))
    given: Any = (context.params or {}).get("_meta")
    handshake = context.session.client_params
    if isinstance(given, Mapping) and CLIENT_INFO_KEY in given:
        note_client(cast("Mapping[str, Any]", given)[CLIENT_INFO_KEY])
    elif handshake is not None:
        note_client({"name": handshake.client_info.name, "version": handshake.client_info.version})
