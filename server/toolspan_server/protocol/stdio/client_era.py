"""The client of a lasting connection: its era, the negotiated protocol version, its handshake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ..fast_path import (
    LATEST_HANDSHAKE_VERSION,
    MODERN_VERSION,
    VERSION_KEY,
    Call,
    FastPath,
    is_modern,
)

Message = Mapping[str, Any]

_ENVELOPE: Message = {VERSION_KEY: MODERN_VERSION, "io.modelcontextprotocol/clientCapabilities": {}}


class ClientEra:
    """The protocol era, decided by the client's first request, and the negotiated version.

    MCP 2026-07-28, basic/versioning: a connection is served in the era that it was opened in.
    ``version`` is ``None`` until a handshake has settled it, and so is ``client``, the ``clientInfo`` in it.
    """

    def __init__(self) -> None:
        self.version: str | None = None
        self.client: Any = None
        self._met = False
        self._initialize: Message | None = None
        self._initialized: Message | None = None

    @property
    def modern(self) -> bool:
        """Whether the connection is of the era without a handshake."""
        return self.version == MODERN_VERSION

    @property
    def unsettled(self) -> bool:
        """Whether the era has a handshake, and none was answered yet."""
        return self.version is None

    @property
    def confirmed(self) -> bool:
        """Whether the client has ended its handshake with ``notifications/initialized``."""
        return self._initialized is not None and not self.modern

    def meet(self, request: Message) -> None:
        """Record a request; the first one decides the era."""
        if not self._met:
            self._met = True
            if is_modern(request):
                self.version = MODERN_VERSION

    def settle(self, initialize: Message, version: str) -> None:
        """Record an ``initialize`` that was answered with ``version``."""
        self._initialize = initialize
        self.version = version
        params = initialize.get("params")
        told = cast("Mapping[str, Any]", params if isinstance(params, Mapping) else {})
        self.client = told.get("clientInfo")

    def confirm(self, initialized: Message) -> None:
        """Record a ``notifications/initialized``."""
        self._initialized = initialized

    def replay(self) -> list[Message]:
        """The messages that bring another server to this connection's state.

        The last request opens the era, even when the client's own first one was answered here.
        """
        if self.modern:
            return [_request("server/discover", {"_meta": _ENVELOPE})]
        confirmed = [] if self._initialized is None else [self._initialized]
        if self._initialize is None:
            return [*confirmed, _request("ping", {})]
        return [self._initialize, *confirmed]


def plain_answer(fast_path: FastPath, era: ClientEra, request: Message) -> bytes | Call | None:
    """The answer to a plain request of ``era``, or the call to run; ``None`` for requests that the SDK
    answers.
    """
    if request["method"] == "initialize":
        opened = None if era.modern else fast_path.initialize(request)
        if opened is None:
            return None
        era.settle(request, opened[1])
        return opened[0]
    if era.version is None:
        return fast_path.answer(request, LATEST_HANDSHAKE_VERSION) if request["method"] == "ping" else None
    return fast_path.answer(request, era.version)


def _request(method: str, params: Message) -> Message:
    return {"jsonrpc": "2.0", "id": 0, "method": method, "params": params}
