"""One streamed answer, read in chunks, each within a deadline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import anyio
import httpx2

if TYPE_CHECKING:
    from ...errors import BridgeError, ProviderError
    from .retry import Attempts
    from .settings import HttpSettings
    from .shown_exchange import ShownExchange

_EXCERPT_BYTES = 2_000
_LINGER_SECONDS = 0.25


class TransportErrors(Protocol):
    """Converts errors of the transport to the bridge's own."""

    def failure(self, error: httpx2.HTTPError) -> BridgeError: ...
    def unreachable(self, reason: str) -> BridgeError: ...
    def too_large(self) -> ProviderError: ...


class ResponseStream:
    """An open answer of HTTP status 2xx, to be closed. ``excerpt`` is the beginning of its body. ``shown`` is
    told what comes."""

    def __init__(
        self,
        response: httpx2.Response,
        faults: TransportErrors,
        settings: HttpSettings,
        attempts: Attempts,
        shown: ShownExchange | None = None,
    ) -> None:
        self._response = response
        self._faults = faults
        self._settings = settings
        self._attempts = attempts
        self._chunks = response.aiter_bytes()
        self._shown = shown
        if shown is not None:
            shown.answered(response.status_code, response.headers)
        self._first: bytes | None = None
        self._size = 0
        self.excerpt = b""

    async def begin(self) -> None:
        """Wait for the first byte. Raises ``HTTPError`` as it is, ``BridgeError`` after the deadline."""
        self._first = await self._next(self._settings.read, "no answer")

    async def read(self) -> bytes:
        """The next bytes, ``b""`` at the end.

        Raises ``UnreachableError`` when none arrive in time or the connection breaks, ``ProviderError`` when
        the answer is too large.
        """
        chunk, self._first = self._first, None
        if chunk is None:
            try:
                chunk = await self._next(self._settings.idle, "the answer stopped: nothing more")
            except httpx2.HTTPError as lost:
                raise self._faults.failure(lost) from None
        self._size += len(chunk)
        if self._size > self._settings.max_bytes:
            raise self._faults.too_large()
        self.excerpt += chunk[: _EXCERPT_BYTES - len(self.excerpt)]
        return chunk

    async def rest(self) -> bytes:
        """The rest of the body. Raises as ``read``."""
        content = bytearray()
        while chunk := await self.read():
            content += chunk
        return bytes(content)

    async def linger(self) -> None:
        """Read the few bytes that may follow the answer's own end, so that the connection can be reused."""
        with anyio.move_on_after(_LINGER_SECONDS):
            try:
                self._told(await anext(self._chunks, b""))
            except httpx2.HTTPError:
                return  # the answer is whole: only the connection is lost

    async def aclose(self) -> None:
        """Return the connection to the pool, or close it when there is more to read."""
        if self._shown is not None:
            self._shown.failed("closed before its end")
        with anyio.CancelScope(shield=True):
            await self._response.aclose()

    async def _next(self, patience: float, late: str) -> bytes:
        left = self._attempts.left
        try:
            with anyio.fail_after(min(patience, left)):
                return self._told(await anext(self._chunks, b""))
        except TimeoutError:
            if left <= patience:
                message = f"no complete answer within {self._settings.total:g} s"
                raise self._faults.unreachable(message) from None
            raise self._faults.unreachable(f"{late} within {patience:g} s") from None

    def _told(self, chunk: bytes) -> bytes:
        if self._shown is not None:
            self._shown.received(chunk)
        return chunk
