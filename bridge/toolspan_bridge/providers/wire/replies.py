"""What came over HTTP as a reply: a whole answer, the end of a stream, or a result of a batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from html import unescape
from typing import Any

from toolspan_server.common.beside_loop import run_beside

from ...errors import AuthError, BridgeError, ProviderError, UnreachableError
from ...formats import FormatError, StreamFailed, get_format
from ...formats.shared.json_values import snippet
from ...messages import Assistant, Failure, Reply
from ..http.client import HttpResponse
from ..http.retry import Attempts
from .api import ProviderApi
from .own_state import from_provider
from .parsed_stream import ParsedStream, is_repeated
from .wire_request import encode

on_left_out: ContextVar[Callable[[str], None] | None] = ContextVar("on_left_out", default=None)
"""Where it is set, it is called with each note on what is left out of a request, or changed in it, before the
request is sent; the same note may come again."""
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,200})", re.IGNORECASE)


class ReadsReplies(ProviderApi):
    """The common part of providers that answer with replies."""

    def read(self, body: Any, model: str, *, wire_format: str, status: int = 200) -> Reply:
        """The reply in the JSON of an answer that came in a batch's results. Raises as ``answer``."""
        if not 200 <= status < 300:
            raise self._failure(HttpResponse(status, {}, encode(body)), model)
        try:
            return from_provider(get_format(wire_format).parse_reply(body), self._origin)
        except FormatError as error:
            raise self._nonsense(str(error), status) from None

    async def _whole(self, answer: HttpResponse, model: str, attempts: Attempts) -> Reply | None:
        """The reply of a whole answer; ``None`` when the provider has to be asked again, since it failed
        within its answer. Raises when there is none."""
        if not 200 <= answer.status < 300:
            raise self._failure(answer, model)
        try:
            work = partial(self._format.parse_reply, answer.content)
            reply = await run_beside(len(answer.content), work)
        except StreamFailed as failed:
            if await is_repeated(failed, attempts):
                return None
            raise self._trouble(failed, None, model) from None
        except FormatError as error:
            raise self._nonsense(str(error), answer.status) from None
        return replace(reply, attempts=attempts.number)

    async def _ended(self, parsed: ParsedStream, excerpt: bytes, model: str) -> Reply:
        """The reply of a stream that ended. Raises when it has nothing worth keeping."""
        try:
            reply = await parsed.reply()
        except FormatError as error:
            raise self._nonsense(str(error)) from None
        if not reply.incomplete:
            return reply
        came = parsed.emitted or bool(reply.message.text or reply.cut_calls)
        trouble = self._trouble(parsed.trouble, None if came else excerpt, model)
        if not came:
            raise trouble
        if isinstance(trouble, ProviderError) and trouble.fault == "generation":
            return replace(reply, stop="malformed", trouble=trouble.message)
        return replace(reply, trouble=trouble.message, failure=_failure(trouble))

    def _trouble(
        self, trouble: BridgeError | FormatError | None, excerpt: bytes | None, model: str
    ) -> BridgeError:
        """What ended the answer: ``trouble``, or an end where none should be. ``excerpt`` is the beginning of
        an answer of which nothing could be read."""
        match trouble:
            case BridgeError():
                return trouble
            case StreamFailed():
                answer = HttpResponse(trouble.error.status, {}, b"", asked=trouble.error.retry_after)
                return self._refusal(answer, trouble.error, model, "said within its answer:")
            case FormatError():
                return self._nonsense(str(trouble))
            case None:
                return self._nonsense(_what_came(excerpt))


def _failure(error: BridgeError) -> Failure | None:
    """What ``error`` is to programs; ``None`` where it says no more than that the stream ended."""
    match error:
        case ProviderError(status=int(status)) if status >= 400:
            return Failure(status, error.kind, error.retryable)
        case UnreachableError():
            return Failure(504 if error.timed_out else 502, error.code, retryable=True)
        case AuthError():
            return Failure(401, error.code, retryable=False)
        case _:
            return None


def _what_came(excerpt: bytes | None) -> str:
    """What was sent in the place of an answer that ends; ``None`` for the beginning of one."""
    if excerpt is None:
        return "its stream ended before the answer did, without a reason"
    came = excerpt.decode(errors="replace").strip()
    if not came:
        return "its answer is empty: not a byte came before its end"
    if came.startswith("<"):
        title = _TITLE.search(came)
        named = " ".join(unescape(title[1]).split()) if title else snippet(came)
        return f"it sent a page in place of an answer: {named!r}"
    if came.startswith(("{", "[")):
        return f"it sent JSON in place of a stream: {snippet(came)!r}"
    read = any(line.startswith(("data:", "event:")) for line in came.splitlines())
    why = "its stream ended before the first word of the answer" if read else "it sent no stream of events"
    return f"{why} (it began {snippet(came)!r})"


def tell_left_out(notes: Iterable[str]) -> None:
    """Tell whoever listens of ``notes``."""
    if (tell := on_left_out.get()) is not None:
        for note in notes:
            tell(note)


def with_notes(reply: Reply, notes: tuple[str, ...]) -> Reply:
    """``reply`` with ``notes`` before its own."""
    return replace(reply, notes=(*notes, *reply.notes)) if notes else reply


def unreadable(error: ProviderError) -> Reply:
    """The turn in which the model wrote what the provider could not read."""
    return Reply(Assistant(), "malformed", trouble=error.message)
