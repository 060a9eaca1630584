"""A streamed answer, passed through its format's parser."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from functools import partial

from toolspan_server.common.beside_loop import run_beside

from ...errors import BridgeError
from ...formats import FormatError, StreamFailed, StreamParser
from ...messages import Assistant, Reply
from ...messages.deltas import Delta
from ..http.rate_limits import BUSY
from ..http.retry import Attempts
from ..http.streams import ResponseStream


class ParsedStream:
    """Feeds ``stream`` to ``parser``. ``emitted`` is whether a delta was yielded; ``trouble`` is the error
    that ended it early: a ``BridgeError`` of the connection, a ``FormatError`` of the content. ``received``
    are the bytes, where ``keep`` asks for them.
    """

    def __init__(self, parser: StreamParser, stream: ResponseStream, *, keep: bool = False) -> None:
        self.received = bytearray()
        self._keep = keep
        self.emitted = False
        self.trouble: BridgeError | FormatError | None = None
        self._parser = parser
        self._stream = stream
        self._size = 0
        self._since_delta = 0

    async def deltas(self) -> AsyncGenerator[Delta]:
        """The deltas as they arrive; ends without an exception, but with ``trouble`` if there was any."""
        try:
            while not self._parser.finished and (chunk := await self._stream.read()):
                if self._keep:
                    self.received += chunk
                for delta in await self._fed(chunk):
                    self.emitted = True
                    yield delta
                if self.trouble is not None:
                    return
            if self._parser.finished:
                await self._stream.linger()
        except (BridgeError, FormatError) as trouble:
            self.trouble = trouble

    async def _fed(self, chunk: bytes) -> Sequence[Delta]:
        """The deltas in ``chunk``, also those before what is wrong in it. An event that has come in many
        chunks is as much work as all of them, so that it is read beside the event loop."""
        self._size += len(chunk)
        self._since_delta += len(chunk)
        deltas: Sequence[Delta]
        try:
            deltas = await run_beside(self._since_delta, partial(self._parser.feed, chunk))
        except FormatError as trouble:
            self.trouble, deltas = trouble, trouble.before
        if deltas:
            self._since_delta = 0
        return deltas

    async def reply(self) -> Reply:
        """The answer, ``incomplete`` if it broke off. Raises ``FormatError`` when the content is not an
        answer.
        """
        try:
            return await run_beside(self._size, self._parser.end)
        except FormatError:
            if self.trouble is None:
                raise
            return Reply(Assistant(incomplete=True), "other", incomplete=True)


async def asks_again(parsed: ParsedStream, attempts: Attempts) -> bool:
    """Whether a request that failed within its stream is repeated: never after a delta was yielded."""
    failed = parsed.trouble
    return not parsed.emitted and isinstance(failed, StreamFailed) and await is_repeated(failed, attempts)


async def is_repeated(failed: StreamFailed, attempts: Attempts) -> bool:
    """Whether a request that failed after HTTP 200 is repeated; the wait before it is over."""
    reason = f"failed within its answer ({failed.error.kind or failed.error.status})"
    busy = failed.error.status in BUSY
    return failed.error.retryable and await attempts.again(reason, failed.error.retry_after, busy=busy)
