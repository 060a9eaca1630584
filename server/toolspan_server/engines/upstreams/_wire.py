"""What goes over the wire to a server, told where somebody wants to see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...common.wire.json_rpc import JsonRpcWire, json_rpc_wire
from ...common.wire.tap import WireMessage, on_wire, secrets_of_headers
from ._spec import ServerSpec

if TYPE_CHECKING:
    import httpx2


def wire_of(spec: ServerSpec) -> JsonRpcWire | None:
    """What tells of the messages of the server of ``spec``; ``None`` where nobody wants to see them."""
    if (tap := on_wire.get()) is not None:
        tap.secrets((*spec.env.values(), *spec.headers.values()))
    return json_rpc_wire(_peer(spec), spec.redact)


def tell_request(spec: ServerSpec, request: httpx2.Request) -> None:
    """Tell of a request of HTTP, without its body: the message in it is told by itself."""
    if (tap := on_wire.get()) is not None:
        tap.secrets(secrets_of_headers(request.headers.items()))
        head = f"{request.method} {request.url}"
        tap.message(WireMessage(_peer(spec), True, head, redact=spec.redact))


def tell_response(spec: ServerSpec, response: httpx2.Response) -> None:
    """Tell of the status of an answer of HTTP."""
    if (tap := on_wire.get()) is not None:
        tap.secrets(secrets_of_headers(response.headers.items()))
        kind = response.headers.get("content-type", "no content type")
        head = f"{response.status_code} {kind}, of {response.request.method} {response.request.url}"
        tap.message(WireMessage(_peer(spec), False, head, redact=spec.redact))


def _peer(spec: ServerSpec) -> str:
    return f"server {spec.name!r} ({spec.kind})"
