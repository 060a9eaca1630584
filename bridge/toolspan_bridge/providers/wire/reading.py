"""A streamed answer on its way through its format's parser."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from ...deltas import Delta
from ...errors import BridgeError
from ...formats import FormatError, StreamParser
from ...messages import Assistant, Reply
from ..http.streams import Stream


class Reading:
    """Feeds ``stream`` to ``parser``. ``told`` is whether any of it was given out; ``trouble`` what ended it
    before its own end: of the connection a ``BridgeError``, of what was sent a ``FormatError``."""

    def __init__(self, parser: StreamParser, stream: Stream) -> None:
        self.told = False
        self.trouble: BridgeError | FormatError | None = None
        self._parser = parser
        self._stream = stream

    async def deltas(self) -> AsyncGenerator[Delta]:
        """What comes, as it comes; ends without an exception, and with ``trouble`` where there was some."""
        try:
            while not self._parser.finished and (chunk := await self._stream.read()):
                for delta in self._parser.feed(chunk):
                    self.told = True
                    yield delta
            if self._parser.finished:
                await self._stream.linger()
        except (BridgeError, FormatError) as trouble:
            self.trouble = trouble

    def reply(self) -> Reply:
        """The answer, ``incomplete`` if it broke off. Raises ``FormatError`` when what came is no answer."""
        try:
            return self._parser.end()
        except FormatError:
            if self.trouble is None:
                raise
            return Reply(Assistant(incomplete=True), "other", incomplete=True)
