"""``Idempotency-Key``: a request that comes again gets the answer of the first one, and nothing runs
twice."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from hashlib import sha256

import anyio
from starlette.requests import Request
from starlette.responses import Response

from toolspan_server.http_server.auth import PRINCIPAL

from ...errors import BridgeError
from ..problems import Problem, problem_of
from .json_bodies import read_body

KEPT_S = 3_600.0
_MOST_BYTES = 32 << 20
_KEY = re.compile(r"[!-~]{1,255}")
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""What may be another answer next time, so that it is not kept."""

_Who = tuple[bytes | None, str]


@dataclass(eq=False, slots=True)
class _Kept:
    """A request and its answer, once there is one."""

    fingerprint: bytes
    until: float
    done: anyio.Event = field(default_factory=anyio.Event)
    answer: tuple[int, list[tuple[bytes, bytes]], bytes] | None = None


class KeptAnswers:
    """The answers of requests with a key, of each principal, for an hour: at most ``most`` of them, and 32
    MiB."""

    def __init__(self, most: Callable[[], int], clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._kept: OrderedDict[_Who, _Kept] = OrderedDict()
        self._bytes = 0

    async def once(
        self, key: str, request: Request, answer: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        """The answer to ``request``: the kept one of the same request, or that of ``answer``, which is kept.

        One that comes while the first is being answered waits for that. Raises ``Problem`` 422 when the key
        was used for another request.
        """
        if not _KEY.fullmatch(key):
            raise Problem(400, "Idempotency-Key must be 1 to 255 visible characters of ASCII")
        body = await read_body(request)
        who = (request.scope.get(PRINCIPAL), key)
        what = sha256(b"\0".join([request.method.encode(), str(request.url.path).encode(), body])).digest()
        while (kept := self._found(who)) is not None:
            if kept.fingerprint != what:
                detail = "this Idempotency-Key was used for another request: make a new one for each"
                raise Problem(422, detail, "idempotency_key_reused")
            await kept.done.wait()
            if kept.answer is not None:
                return _again(kept.answer)
        kept = self._kept[who] = _Kept(what, self._clock() + KEPT_S)
        try:
            response = await _told(answer, _with_body(request, body))
            self._keep(kept, response)
            return response
        finally:
            kept.done.set()
            if kept.answer is None and self._kept.get(who) is kept:
                del self._kept[who]

    def _found(self, who: _Who) -> _Kept | None:
        kept = self._kept.get(who)
        if kept is not None and kept.until <= self._clock() and kept.done.is_set():
            self._drop(who)
            return None
        return kept

    def _keep(self, kept: _Kept, response: Response) -> None:
        body = response.body
        if response.status_code in _PASSING or not isinstance(body, bytes):
            return
        kept.answer = (response.status_code, list(response.raw_headers), body)
        self._bytes += len(body)
        for who, each in list(self._kept.items()):
            if len(self._kept) <= self._most() and self._bytes <= _MOST_BYTES:
                break
            if each.answer is not None and each is not kept:
                self._drop(who)

    def _drop(self, who: _Who) -> None:
        gone = self._kept.pop(who)
        if gone.answer is not None:
            self._bytes -= len(gone.answer[2])


async def _told(answer: Callable[[Request], Awaitable[Response]], request: Request) -> Response:
    """The answer, of a problem too: one that is no accident is the same next time."""
    try:
        return await answer(request)
    except Problem as problem:
        return problem.response()
    except BridgeError as error:
        return problem_of(error).response()


def _with_body(request: Request, body: bytes) -> Request:
    """The same request, whose body can be read anew."""

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request(request.scope, receive)


def _again(answer: tuple[int, list[tuple[bytes, bytes]], bytes]) -> Response:
    status, headers, body = answer
    response = Response(body, status)
    response.raw_headers[:] = [*headers, (b"idempotent-replayed", b"true")]
    return response
