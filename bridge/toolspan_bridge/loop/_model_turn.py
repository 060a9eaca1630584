"""One turn of the model, streamed or whole."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from ..deltas import Delta, TextDelta
from ..messages import Reply, Request
from ..providers import Provider


class ModelTurn:
    """Asks ``provider``. ``reply`` is complete when ``deltas`` has ended; ``text`` is the text received so
    far.
    """

    def __init__(self, provider: Provider, request: Request) -> None:
        self._provider = provider
        self._request = request
        self._pieces: list[str] = []
        self._reply: Reply | None = None

    @property
    def text(self) -> str:
        """The text received so far."""
        return "".join(self._pieces)

    @property
    def reply(self) -> Reply:
        """The whole turn."""
        if self._reply is None:
            raise AssertionError("a provider's answer ends with a Reply")
        return self._reply

    async def deltas(self) -> AsyncGenerator[Delta]:
        """The deltas of the turn; none of one that is not streamed. Raises what the provider raises."""
        if not self._request.stream:
            self._reply = await self._provider.answer(self._request)
            return
        async with aclosing(self._provider.stream(self._request)) as items:
            async for item in items:
                if isinstance(item, Reply):
                    self._reply = item
                    continue
                if isinstance(item, TextDelta):
                    self._pieces.append(item.text)
                yield item
