"""A provider of a wire format over HTTP: render, post, parse, and report errors."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from toolspan_server.config import secret_pattern

from ...deltas import Delta
from ...errors import (
    AuthError,
    BridgeError,
    ProviderError,
    UnknownModelError,
)
from ...formats import (
    FormatError,
    StreamFailed,
    WireError,
    get_format,
    request_notes,
)
from ...formats.names import NameTable
from ...messages import Assistant, Reply, Request
from ..http.client import HttpClient, HttpResponse
from ..http.retry import Attempts
from ..http.settings import HttpSettings
from .adjustments import Adjustments, Rounds
from .model_facts import ModelFacts, Page, openai_page
from .model_list import read_list
from .own_state import from_provider, without_foreign_state
from .parsed_stream import ParsedStream, asks_again, is_repeated
from .quarantine import Quarantine
from .refusals import advice, lengths, refusal

if TYPE_CHECKING:
    from .recording import Recorder


def encode(body: Any) -> bytes:
    """``body`` as compact JSON. Lone surrogates, which UTF-8 cannot encode, become ``?``."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A request as it is sent: address, headers (the key among them), and the exact bytes of the body."""

    url: str
    headers: Mapping[str, str]
    body: bytes


class WireProvider(ABC):
    """The common part of providers over HTTP. ``variables`` is what to check when the key is refused;
    ``secrets`` are removed from its error messages. ``account`` is the name by which its state is known, for
    a provider with several names.
    """

    no_list: ClassVar[str] = ""
    """Why the provider lists no models, if it does not."""

    def __init__(
        self,
        name: str,
        wire_format: str,
        base: str,
        settings: HttpSettings,
        *,
        variables: str,
        hint: str,
        secrets: tuple[str, ...],
        account: str = "",
    ) -> None:
        self.name = name
        self._account = account
        self.format_name = wire_format
        self._base = base
        self._format = get_format(wire_format)
        self._client = HttpClient(name, base, settings, hint)
        self._variables = variables
        self._secrets = secrets
        self._quarantine = Quarantine(name)
        self._adjustments = Adjustments(name)
        self._prompted = False
        self._recorder: Recorder | None = None

    @abstractmethod
    def _url(self, model: str) -> str:
        """The URL of requests to ``model``."""

    @abstractmethod
    async def _headers(self, url: str, body: bytes) -> Mapping[str, str]:
        """The headers of one attempt, with the key or signature."""

    async def _ready(self, request: Request) -> tuple[Request, tuple[str, ...]]:
        """``request`` adapted to known facts of its model, and notes on the changes for the user."""
        return request, request_notes(self.format_name, request)

    @property
    def _origin(self) -> str:
        return self._account or self.name

    async def _body(self, request: Request, names: NameTable) -> dict[str, Any]:
        return self._format.render_request(request, names)

    def prompted(self, wording: str = "") -> Self:
        """The same provider, with tools described in the prompt and called in the text: for models without
        tool calls. The format's name is then the original one after ``prompt:``, or ``prompt.WORDING:``.
        """
        self.format_name = f"prompt{wording and f'.{wording}'}:{self.format_name}"
        self._format = get_format(self.format_name)
        self._prompted = True
        return self

    def recorded(self, recorder: Recorder) -> None:
        """From now on, write each exchange by ``recorder``."""
        self._recorder = recorder

    def _stream_url(self, model: str) -> str:
        """The URL of requests to ``model`` with a streamed answer."""
        return self._url(model)

    async def sent(self, request: Request) -> WireRequest:
        """``request`` as it would be on the wire, without sending it."""
        request, _ = await self._ready(without_foreign_state(request, self._origin))
        body = encode(await self._body(request, NameTable.of(request.tools)))
        url = self._stream_url(request.model) if request.stream else self._url(request.model)
        return WireRequest(url, dict(await self._headers(url, body)), body)

    async def answer(self, request: Request) -> Reply:
        """One answer of the provider, without the tools that it refuses. Raises as ``Provider.answer``."""
        request = without_foreign_state(request, self._origin)
        if self._prompted:
            return from_provider(await self._answer(request), self._origin)
        return from_provider(await self._quarantine.answer(request, self._format, self._answer), self._origin)

    async def _answer(self, request: Request) -> Reply:
        """One answer. A setting that the model does not take is left out from then on; a turn with a call
        that the provider cannot read is ``malformed``."""
        rounds = self._adjustments.rounds(request.model)
        while True:
            try:
                return _with_notes(await self._asked(request, rounds), rounds.notes)
            except ProviderError as error:
                if error.fault == "generation":
                    return _with_notes(_unreadable(error), rounds.notes)
                if not rounds.cured(error):
                    raise

    async def _asked(self, request: Request, rounds: Rounds) -> Reply:
        request, notes = await self._ready(replace(request, stream=False))
        body = encode(rounds.applied(await self._body(request, NameTable.of(request.tools))))
        url, attempts = self._url(request.model), self._client.attempts()
        while True:
            answer = await self._client.post(url, body, self._headers, self._format.parse_error, attempts)
            await self._record(request, url, body, answer)
            reply = await self._whole(answer, request.model, attempts)
            if reply is not None:
                return _with_notes(reply, notes)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """The answer, streamed. When the provider reports overload within its stream, the request is repeated
        as long as no delta was yielded; after that, the part received is an ``incomplete`` reply, the last
        item.

        Raises as ``Provider.answer``, and only before the first item. A whole answer instead of a stream is
        accepted.
        """
        request = without_foreign_state(request, self._origin)
        quarantined = self._quarantine.stream(request, self._format, self._stream, self._answer)
        async with aclosing(self._stream(request) if self._prompted else quarantined) as items:
            async for item in items:
                yield from_provider(item, self._origin) if isinstance(item, Reply) else item

    async def _stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        rounds = self._adjustments.rounds(request.model)
        while not rounds.whole:
            try:
                async with aclosing(self._streamed(request, rounds)) as items:
                    async for item in items:
                        yield _with_notes(item, rounds.notes) if isinstance(item, Reply) else item
                return
            except ProviderError as error:
                if error.fault == "generation":
                    yield _with_notes(_unreadable(error), rounds.notes)
                    return
                if not rounds.cured(error):
                    raise
        yield _with_notes(await self._answer(request), rounds.notes)

    async def _streamed(self, request: Request, rounds: Rounds) -> AsyncGenerator[Delta | Reply]:
        request, notes = await self._ready(replace(request, stream=True))
        body = encode(rounds.applied(await self._body(request, NameTable.of(request.tools))))
        url = self._stream_url(request.model)
        attempts = self._client.attempts()
        while True:
            opened = await self._client.open(url, body, self._headers, self._format.parse_error, attempts)
            if isinstance(opened, HttpResponse):
                await self._record(request, url, body, opened)
                whole = await self._whole(opened, request.model, attempts)
                if whole is None:
                    continue
                yield _with_notes(whole, notes)
                return
            parsed = ParsedStream(self._format.parse_stream(), opened, keep=self._recorder is not None)
            async with aclosing(opened), aclosing(parsed.deltas()) as deltas:
                async for delta in deltas:
                    yield delta
            await self._record(request, url, body, HttpResponse(200, {}, bytes(parsed.received)))
            if not await asks_again(parsed, attempts):
                reply = self._ended(parsed, opened.excerpt, request.model)
                yield _with_notes(replace(reply, attempts=attempts.number), notes)
                return

    async def _record(self, request: Request, url: str, body: bytes, answer: HttpResponse) -> None:
        if self._recorder is None:
            return
        from .recording import Exchange

        kind = answer.headers.get("content-type", "")
        exchange = Exchange(
            self.name, self.format_name, request, url, body, answer.status, kind, answer.content
        )
        await self._recorder.keep(exchange, self._redact)

    async def models(self) -> tuple[ModelFacts, ...]:
        """The models that the provider lists, with the facts in its list; at most ``MAX_MODELS``.

        Raises ``UsageError`` when it has no list, else as ``answer``.
        """
        return await read_list(self.name, self.no_list, self._read_page, self._page)

    def _list_url(self, after: str) -> str:
        """The URL of the list of models; ``after`` requests its next page."""
        return f"{self._base}/models"

    def _read_page(self, content: bytes) -> Page:
        return openai_page(content)

    async def _list_headers(self, url: str, body: bytes) -> Mapping[str, str]:
        return await self._headers(url, body)

    async def _page(self, after: str) -> bytes:
        answer = await self._client.get(self._list_url(after), self._list_headers, self._format.parse_error)
        if answer.status == 404:
            raise ProviderError(f"{self.name} at {self._base} has no list of models", status=404)
        if not 200 <= answer.status < 300:
            raise self._failure(answer, "")
        return answer.content

    async def exchange(
        self,
        method: Literal["GET", "POST"],
        path: str,
        body: bytes = b"",
        *,
        content_type: str = "",
        max_bytes: int = 0,
        once: bool = False,
    ) -> bytes:
        """The content of the answer to another request than a question, at ``path`` after the base address.

        ``once``: it is not repeated where it may have been carried out. Raises as ``answer``.
        """

        async def headers(url: str, sent: bytes) -> Mapping[str, str]:
            own = await self._headers(url, sent)
            return {**own, "content-type": content_type} if content_type else own

        url, read_error = f"{self._base}{path}", self._format.parse_error
        answer = await self._client.send(
            method, url, body, headers, read_error, once=once, max_bytes=max_bytes
        )
        if answer.status == 404:
            found = self._redact(read_error(404, answer.headers, answer.content).message)
            raise ProviderError(f"{self.name} at {self._base} has no {path} (404: {found})", status=404)
        if not 200 <= answer.status < 300:
            raise self._failure(answer, "")
        return answer.content

    def path_of(self, url: str) -> str:
        """What follows the base address in ``url``."""
        return url.removeprefix(self._base)

    def read(self, body: Any, model: str, *, wire_format: str, status: int = 200) -> Reply:
        """The reply in the JSON of an answer that came in a batch's results. Raises as ``answer``."""
        if not 200 <= status < 300:
            raise self._failure(HttpResponse(status, {}, encode(body)), model)
        try:
            return from_provider(get_format(wire_format).parse_reply(body), self._origin)
        except FormatError as error:
            raise self._nonsense(str(error), status) from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _post(self, url: str, body: dict[str, Any]) -> HttpResponse:
        return await self._client.post(url, encode(body), self._headers, self._format.parse_error)

    async def _whole(self, answer: HttpResponse, model: str, attempts: Attempts) -> Reply | None:
        """The reply of a whole answer; ``None`` when the provider has to be asked again, since it failed
        within its answer. Raises when there is none."""
        if not 200 <= answer.status < 300:
            raise self._failure(answer, model)
        try:
            reply = self._format.parse_reply(answer.content)
        except StreamFailed as failed:
            if await is_repeated(failed, attempts):
                return None
            raise self._trouble(failed, b"", model) from None
        except FormatError as error:
            raise self._nonsense(str(error), answer.status) from None
        return replace(reply, attempts=attempts.number)

    def _ended(self, parsed: ParsedStream, excerpt: bytes, model: str) -> Reply:
        """The reply of a stream that ended. Raises when it has nothing worth keeping."""
        try:
            reply = parsed.reply()
        except FormatError as error:
            raise self._nonsense(str(error)) from None
        if not reply.incomplete:
            return reply
        came = parsed.emitted or bool(reply.message.text or reply.cut_calls)
        trouble = self._trouble(parsed.trouble, b"" if came else excerpt, model)
        if not came:
            raise trouble
        if isinstance(trouble, ProviderError) and trouble.fault == "generation":
            return replace(reply, stop="malformed", trouble=trouble.message)
        return replace(reply, trouble=trouble.message)

    def _trouble(self, trouble: BridgeError | FormatError | None, excerpt: bytes, model: str) -> BridgeError:
        match trouble:
            case BridgeError():
                return trouble
            case StreamFailed():
                answer = HttpResponse(trouble.error.status, {}, b"", asked=trouble.error.retry_after)
                return self._refusal(answer, trouble.error, model, "said within its answer:")
            case FormatError():
                return self._nonsense(str(trouble))
            case None:
                shown = f" (it began {excerpt[:200].decode(errors='replace')!r})" if excerpt else ""
                return self._nonsense(f"its stream ended before the answer did{shown}")

    def _nonsense(self, found: str, status: int = 200) -> ProviderError:
        return ProviderError(
            f"{self.name} at {self._base} did not answer as its API does: {self._redact(found)}",
            status=status,
        )

    def _failure(self, answer: HttpResponse, model: str) -> BridgeError:
        if answer.status < 400:
            return ProviderError(
                f"{self.name} at {self._base} answered {answer.status}, a redirect: set the final address",
                status=answer.status,
            )
        error = self._format.parse_error(answer.status, answer.headers, answer.content)
        return self._refusal(answer, error, model)

    def _refusal(self, answer: HttpResponse, error: WireError, model: str, how: str = "") -> BridgeError:
        reported = self._redact(error.message)
        tries = f" (after {answer.attempts} attempts)" if answer.attempts > 1 else ""
        later = f"; try again in {answer.asked:g} s" if answer.asked else ""
        if self._refuses_key(answer, error):
            return AuthError(
                f"{self.name} refused the request ({answer.status}: {reported}): check {self._variables}"
            )
        if answer.status == 404 and error.fault == "other":
            return UnknownModelError(
                f"{self.name} at {self._base} knows no {model!r} (404: {reported}){self._model_hint(model)}",
                status=404,
                kind=error.kind,
            )
        said = f"{self.name} {how or f'answered {answer.status}'} {self._redact(error.kind)}: {reported}"
        return refusal(
            error,
            f"{said}{lengths(error)}{later}{tries}",
            answer.status,
            advice(error, self.name, model, prompted=self._prompted),
        )

    def _refuses_key(self, answer: HttpResponse, error: WireError) -> bool:
        return answer.status in (401, 403)

    def _model_hint(self, model: str) -> str:
        return ""

    def _redact(self, text: str) -> str:
        found = secret_pattern(self._secrets)
        return text if found is None else found.sub("[key]", text)


def _with_notes(reply: Reply, notes: tuple[str, ...]) -> Reply:
    return replace(reply, notes=(*notes, *reply.notes)) if notes else reply


def _unreadable(error: ProviderError) -> Reply:
    """The turn in which the model wrote what the provider could not read."""
    return Reply(Assistant(), "malformed", trouble=error.message)
