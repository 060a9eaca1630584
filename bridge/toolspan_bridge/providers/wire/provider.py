"""A provider of a wire format over HTTP: render, post, parse, whole or streamed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, Self

from toolspan_server.common.beside_loop import run_beside

from ...errors import ProviderError
from ...formats import changed_tools, get_format, request_notes
from ...formats.names import NameTable
from ...formats.prompt.renderings import DEFAULT, RENDERINGS, Rendering
from ...messages import Reply, Request
from ...messages.deltas import Delta
from ..http.client import HttpResponse
from ..http.settings import HttpSettings
from ..settings.endpoint import Endpoint
from .adjustments import Adjustments, Rounds
from .model_list import ListsModels
from .own_state import for_provider, from_provider
from .parsed_stream import ParsedStream, asks_again
from .quarantine import Quarantine
from .replies import ReadsReplies, tell_left_out, unreadable, with_notes
from .token_limits import told_limit
from .unopened_thoughts import UnopenedThoughts
from .wire_request import WireRequest, encode, weight


class WireProvider(ReadsReplies, ListsModels):
    """The common part of providers over HTTP that answer requests."""

    asks_first: bool = False
    """Whether the server is asked about its model before a request is written."""

    def __init__(self, endpoint: Endpoint, wire_format: str, settings: HttpSettings) -> None:
        super().__init__(endpoint, wire_format, settings)
        self._rendering: Rendering | None = RENDERINGS[DEFAULT]
        self._quarantine = Quarantine(self.name)
        self._adjustments = Adjustments(self.name)
        self._unopened = UnopenedThoughts()

    @abstractmethod
    def _url(self, model: str) -> str:
        """The URL of requests to ``model``."""

    async def _ready(self, request: Request) -> tuple[Request, tuple[str, ...]]:
        """``request`` adapted to known facts of its model, and notes on the changes for the user."""
        work = partial(request_notes, self.format_name, request)
        return request, await run_beside(weight(request), work)

    async def _body(self, request: Request, names: NameTable) -> dict[str, Any]:
        return await run_beside(weight(request), partial(self._format.render_request, request, names))

    async def _changed_tools(self, request: Request) -> tuple[str, ...]:
        """Notes on the tools of ``request`` that are left out, or of which something is lost."""
        if not request.tools or request.tool_choice == "none":
            return ()

        def work() -> tuple[str, ...]:
            return tuple(f"{self.name}: {note}" for note in changed_tools(self._format, request.tools))

        return await run_beside(weight(request), work)

    def prompted(self, wording: str = "") -> Self:
        """The same provider, with tools described in the prompt and called in the text: for models without
        tool calls. The format's name is then the original one after ``prompt:``, or ``prompt.WORDING:``.
        """
        self.format_name = f"prompt{wording and f'.{wording}'}:{self.format_name}"
        self._format = get_format(self.format_name)
        self._prompted = True
        self._rendering = None
        return self

    def rendered(self, rendering: str) -> Self:
        """The same provider, to which calls that its models wrote as text go back in ``rendering``, one of
        ``RENDERINGS``. The format's name is then the original one after ``native.RENDERING:``.
        """
        self._rendering = RENDERINGS[rendering]
        if rendering != DEFAULT:
            self.format_name = f"native.{rendering}:{self.format_name}"
        return self

    def _stream_url(self, model: str) -> str:
        """The URL of requests to ``model`` with a streamed answer."""
        return self._url(model)

    async def sent(self, request: Request) -> WireRequest:
        """``request`` as it would be on the wire, without sending it."""
        request, _ = await self._ready(for_provider(request, self._origin, self._rendering))
        body = encode(await self._body(request, NameTable.of(request.tools)))
        url = self._stream_url(request.model) if request.stream else self._url(request.model)
        return WireRequest(url, dict(await self._headers(url, body)), body)

    async def answer(self, request: Request) -> Reply:
        """One answer of the provider, without the tools that it refuses. Raises as ``Provider.answer``."""
        request = for_provider(request, self._origin, self._rendering)
        if self._prompted:
            return from_provider(await self._answer(request), self._origin)
        return from_provider(await self._quarantine.answer(request, self._format, self._answer), self._origin)

    async def _answer(self, request: Request) -> Reply:
        """One answer. A setting that the model does not take is left out from then on; a turn with a call
        that the provider cannot read is ``malformed``."""
        rounds = self._adjustments.rounds(request.model, limited=request.max_tokens is not None)
        while True:
            try:
                return with_notes(await self._asked(request, rounds), rounds.notes)
            except ProviderError as error:
                if error.fault == "generation":
                    return with_notes(unreadable(error), rounds.notes)
                if not rounds.cured(error):
                    raise

    async def _asked(self, request: Request, rounds: Rounds) -> Reply:
        request, notes = await self._ready(replace(request, stream=False) if request.stream else request)
        notes = (*notes, *await self._changed_tools(request))
        written = rounds.applied(await self._body(request, NameTable.of(request.tools)))
        tell_left_out((*rounds.notes, *notes))
        body, url = encode(written), self._url(request.model)
        attempts = self._client.attempts(request.meter, told_limit(written))
        while True:
            answer = await self._client.post(url, body, self._headers, self._format.parse_error, attempts)
            await self._record(request, url, body, answer)
            reply = await self._whole(answer, request.model, attempts)
            if reply is not None:
                return with_notes(reply, notes)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """The answer, streamed. When the provider reports overload within its stream, the request is repeated
        as long as no delta was yielded; after that, the part received is an ``incomplete`` reply, the last
        item.

        Raises as ``Provider.answer``, and only before the first item. A whole answer instead of a stream is
        accepted.
        """
        request = for_provider(request, self._origin, self._rendering)
        held = self._unopened.held(request.model)
        quarantined = self._quarantine.stream(request, self._format, self._stream, self._answer)
        async with aclosing(self._stream(request) if self._prompted else quarantined) as items:
            async for item in items:
                for each in held.take(item):
                    yield from_provider(each, self._origin) if isinstance(each, Reply) else each

    async def _stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        rounds = self._adjustments.rounds(request.model, limited=request.max_tokens is not None)
        while not rounds.whole:
            try:
                async with aclosing(self._streamed(request, rounds)) as items:
                    async for item in items:
                        yield with_notes(item, rounds.notes) if isinstance(item, Reply) else item
                return
            except ProviderError as error:
                if error.fault == "generation":
                    yield with_notes(unreadable(error), rounds.notes)
                    return
                if not rounds.cured(error):
                    raise
        yield with_notes(await self._answer(request), rounds.notes)

    async def _streamed(self, request: Request, rounds: Rounds) -> AsyncGenerator[Delta | Reply]:
        request, notes = await self._ready(request if request.stream else replace(request, stream=True))
        notes = (*notes, *await self._changed_tools(request))
        written = rounds.applied(await self._body(request, NameTable.of(request.tools)))
        tell_left_out((*rounds.notes, *notes))
        body, url = encode(written), self._stream_url(request.model)
        attempts = self._client.attempts(request.meter, told_limit(written))
        while True:
            opened = await self._client.open(url, body, self._headers, self._format.parse_error, attempts)
            if isinstance(opened, HttpResponse):
                await self._record(request, url, body, opened)
                whole = await self._whole(opened, request.model, attempts)
                if whole is None:
                    continue
                yield with_notes(whole, notes)
                return
            parsed = ParsedStream(self._format.parse_stream(), opened, keep=self._recorder is not None)
            async with aclosing(opened), aclosing(parsed.deltas()) as deltas:
                async for delta in deltas:
                    yield delta
            await self._record(request, url, body, HttpResponse(200, {}, bytes(parsed.received)))
            if not await asks_again(parsed, attempts):
                reply = await self._ended(parsed, opened.excerpt, request.model)
                yield with_notes(replace(reply, attempts=attempts.number), notes)
                return
