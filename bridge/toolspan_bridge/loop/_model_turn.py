"""One turn of the model, streamed or whole."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from toolspan_server.common.beside_loop import run_beside
from toolspan_server.common.slices import Slices

from ..formats.prompt.rescue import (
    HeldText,
    may_hold_calls,
    rescued,
)
from ..formats.prompt.written_calls import Callables
from ..messages import Reply, Request
from ..messages.deltas import CallDelta, Delta, ReasoningDelta, TextDelta
from ..providers import Provider


class ModelTurn:
    """Asks ``provider``. ``reply`` is complete when ``deltas`` has ended; ``text`` is the text received so
    far.
    """

    def __init__(self, provider: Provider, request: Request) -> None:
        self._provider = provider
        self._request = request
        self._pieces: list[str] = []
        self._shown_text: list[str] = []
        self._held = self._may_hold()
        self._took_calls = False
        self._reply: Reply | None = None

    def _may_hold(self) -> HeldText | None:
        return HeldText(Callables.of(self._request.tools)) if may_hold_calls(self._request) else None

    @property
    def request(self) -> Request:
        """What the model is asked."""
        return self._request

    @property
    def text(self) -> str:
        """The text received so far."""
        return "".join(self._pieces)

    @property
    def has_shown(self) -> bool:
        """Whether text was given, in deltas."""
        return bool(self._shown_text)

    @property
    def reply(self) -> Reply:
        """The whole turn."""
        if self._reply is None:
            raise AssertionError("a provider's answer ends with a Reply")
        return self._reply

    async def deltas(self) -> AsyncGenerator[Delta]:
        """The deltas of the turn; none of one that is not streamed. Raises what the provider raises."""
        if not self._request.stream:
            self._reply = await self._rescued(await self._provider.answer(self._request))
            return
        slices = Slices()
        async with aclosing(self._provider.stream(self._request)) as items:
            async for item in items:
                await slices.pause()
                if isinstance(item, Reply):
                    self._reply = await self._rescued(item)
                    for delta in self._rest():
                        yield delta
                    continue
                text = await self._released(item)
                for delta in self._shown(item, text):
                    yield delta

    async def _released(self, delta: Delta) -> str:
        """The text that ``delta`` brings: what of it, and of the held text, is certain to be no call."""
        if not isinstance(delta, TextDelta) or self._held is None:
            return delta.text if isinstance(delta, TextDelta) else ""
        return await run_beside(len(delta.text), partial(self._held.feed, delta.text))

    def _shown(self, delta: Delta, text: str) -> Iterator[Delta]:
        """``delta``, or its ``text`` where it has one; the rest is held until a call comes in its channel."""
        if isinstance(delta, TextDelta):
            self._pieces.append(delta.text)
            if text:
                self._shown_text.append(text)
                yield TextDelta(text)
            return
        if isinstance(delta, ReasoningDelta) and delta.was_text:
            self._pieces.clear()
            self._shown_text.clear()
            self._held = self._may_hold()
        if isinstance(delta, CallDelta) and self._held is not None:
            held, self._held = self._held.text, None
            if held:
                self._shown_text.append(held)
                yield TextDelta(held)
        yield delta

    async def _rescued(self, reply: Reply) -> Reply:
        """``reply`` with calls that were written as text: unmarked where text is their channel."""
        found = await run_beside(len(reply.message.text), partial(rescued, reply, self._request))
        self._took_calls = found is not reply
        return replace(found, rescued=False) if self._provider.format_name.startswith("prompt") else found

    def _rest(self) -> Iterator[Delta]:
        """What was held back, and the calls that were taken out of it."""
        if self._held is None:
            return
        shown, said = "".join(self._shown_text), self.reply.message.text
        left = said[len(shown) :] if said.startswith(shown) else ""
        if rest := left if self._took_calls else self._held.text:
            self._shown_text.append(rest)
            yield TextDelta(rest)
        for place, call in enumerate(self.reply.message.calls if self._took_calls else ()):
            yield CallDelta(place, call.name, call.raw)
