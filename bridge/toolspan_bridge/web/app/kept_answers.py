"""``Idempotency-Key``: a request that comes again gets the answer of the first one, and nothing runs
twice, also when the server was ended meanwhile or another process of the same state folder is asked."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from toolspan_server.http_server.auth import PRINCIPAL

from ...errors import BridgeError, StoreError
from ..problems import Problem, problem_of
from .json_bodies import read_body

if TYPE_CHECKING:
    from pathlib import Path

    from toolspan_server.config import Config

    from ..storage.keyed_requests import KeptAnswer, KeyedRequests, Known

_log = logging.getLogger(__name__)
KEPT_S = 3_600.0
_MOST_BYTES = 32 << 20
_KEY = re.compile(r"[!-~]{1,255}")
_PASSING = frozenset({401, 408, 413, 429, 500, 502, 503, 504, 507})
"""What may be another answer next time, so that it is not kept."""

_Place = tuple[str, str]
"""A principal and its key, as digests."""


@dataclass(eq=False, slots=True)
class _Begun:
    """A request that this process is answering."""

    fingerprint: bytes
    over: anyio.Event = field(default_factory=anyio.Event)


class KeptAnswers:
    """The requests with a key of each principal, for an hour: at most ``web.kept_answers`` of one principal,
    and 32 MiB of answers. ``config`` gives the config of now, whose state folder has them."""

    def __init__(self, config: Callable[[], Config]) -> None:
        self._config = config
        self._begun: dict[_Place, _Begun] = {}
        self._unsaved: dict[_Place, KeptAnswer] = {}
        """Those of which nothing may be on the disk."""
        self._stores: dict[Path, KeyedRequests] = {}
        self._opening = anyio.Lock()

    async def once(
        self, key: str, request: Request, answer: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        """The answer to ``request``: the kept one of the same request, or that of ``answer``, which is kept.
        What began goes on though the client leaves.

        One that comes while the first is being answered waits for that. Raises ``Problem``: 422 when the key
        was used for another request, 409 while another process answers, and for a request whose server ended
        before it was answered; ``StoreError`` when it cannot be noted: nothing ran then.
        """
        if not _KEY.fullmatch(key):
            raise Problem(400, "Idempotency-Key must be 1 to 255 visible characters of ASCII")
        body = await read_body(request, self._config().limits.message_bytes)
        place = (_digest(request.scope.get(PRINCIPAL) or b"").hex(), _digest(key.encode()).hex())
        what = _digest(request.method.encode(), request.scope.get("raw_path", b""), body)
        while (begun := self._begun.get(place)) is not None:
            _same(begun.fingerprint, what)
            await begun.over.wait()
        begun = self._begun[place] = _Begun(what)
        try:
            store = await self._store()
            most = self._config().web.kept_answers
            known = await to_thread.run_sync(store.begin, *place, what, most)
            if known is not None:
                return _again(known, what, self._unsaved.get(place))
            return await self._answered(store, place, answer, _with_body(request, body))
        finally:
            begun.over.set()
            del self._begun[place]

    async def _answered(
        self,
        store: KeyedRequests,
        place: _Place,
        answer: Callable[[Request], Awaitable[Response]],
        request: Request,
    ) -> Response:
        """The answer, kept. Of what is cancelled, or ends by a defect, nobody knows whether it was done."""
        response = await _told(answer, request)
        if response.status_code in _PASSING:
            await self._give_up(store, place)
        else:
            await self._keep(store, place, response)
        return response

    async def _keep(self, store: KeyedRequests, place: _Place, response: Response) -> None:
        from ...sessions.kept.stored import settings_of
        from ..storage.keyed_requests import KeptAnswer

        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers]
        kept = KeptAnswer(response.status_code, headers, bytes(response.body))
        if not settings_of(self._config()).save:
            self._unsaved[place] = kept
            while len(self._unsaved) > 1 and sum(map(_size, self._unsaved.values())) > _MOST_BYTES:
                del self._unsaved[next(iter(self._unsaved))]
            kept = replace(kept, body=None)
        try:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(store.answered, *place, kept)
        except StoreError as error:  # it was done: whoever sends it again is told that this is not known
            _log.warning("an answer cannot be kept for its Idempotency-Key: %s", error.message)

    async def _give_up(self, store: KeyedRequests, place: _Place) -> None:
        try:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(store.given_up, *place)
        except StoreError as error:
            _log.warning("a request cannot be given up for its Idempotency-Key: %s", error.message)

    async def _store(self) -> KeyedRequests:
        folder = self._config().state_directory
        async with self._opening:
            if folder not in self._stores:
                self._stores[folder] = await to_thread.run_sync(_opened, folder)
        return self._stores[folder]

    def close(self) -> None:
        """Let go of the files."""
        for store in self._stores.values():
            store.close()
        self._stores.clear()


def _opened(folder: Path) -> KeyedRequests:
    from ..storage.keyed_requests import KeyedRequests

    try:
        return KeyedRequests(folder, kept_s=KEPT_S, most_bytes=_MOST_BYTES)
    except OSError as error:
        raise StoreError(f"the keyed requests in {folder} cannot be kept: {error.strerror}") from error


async def _told(answer: Callable[[Request], Awaitable[Response]], request: Request) -> Response:
    """The answer, of a problem too: one that is no accident is the same next time."""
    try:
        return await answer(request)
    except Problem as problem:
        return problem.response()
    except BridgeError as error:
        return problem_of(error).response()


def _with_body(request: Request, body: bytes) -> Request:
    """The same request, whose body can be read anew, and whose client never leaves."""
    parts: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not parts:
            await anyio.sleep_forever()
        return parts.pop()

    return Request(request.scope, receive)


def _same(fingerprint: bytes, what: bytes) -> None:
    if fingerprint != what:
        detail = "this Idempotency-Key was used for another request: make a new one for each"
        raise Problem(422, detail, "idempotency_key_reused")


def _digest(*parts: bytes) -> bytes:
    return sha256(b"\0".join(parts)).digest()


def _size(answer: KeptAnswer) -> int:
    return len(answer.body or b"")


def _again(known: Known, what: bytes, unsaved: KeptAnswer | None) -> Response:
    """The kept answer. Raises ``Problem`` where there is none."""
    _same(known.fingerprint, what)
    if known.goes_on:
        detail = "another process is answering the request of this Idempotency-Key: send it again soon"
        raise Problem(409, detail, "request_in_progress", headers={"Retry-After": "1"})
    if known.answer is None:
        detail = (
            "the server ended before it had answered the request of this Idempotency-Key, and whether it was "
            "done is not known: look, and send it again with another key if it was not"
        )
        raise Problem(409, detail, "outcome_unknown")
    answer = unsaved or known.answer
    if answer.body is None:
        detail = (
            f"the request of this Idempotency-Key was answered with {answer.status}, and since "
            "conversations.save is off no more of it is kept"
        )
        raise Problem(409, detail, "already_answered", more={"answered": answer.status})
    response = Response(answer.body, answer.status)
    response.raw_headers[:] = [
        *((name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers),
        (b"idempotent-replayed", b"true"),
    ]
    return response
