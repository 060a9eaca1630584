"""One call at an upstream, from start to answer, and the messages to its client meanwhile."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast, get_args

from ...calls.client import (
    Ability,
    Client,
    Level,
    Question,
)
from ...engines.upstreams import InputNeeded, RefusedQuestion, begin_call
from ...engines.upstreams import UpstreamResult as Result
from ...errors import ToolFailure

MAX_SAID = 256
"""Progress reports and log messages of one call that may be queued; beyond that the oldest are dropped."""

MAX_SAID_BYTES = 1_048_576
"""The most bytes of JSON that they may have."""

MAX_QUESTIONS = 16
"""Questions of one call that are open at the same time."""

_INVALID_REQUEST = -32600
_REPORT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Open:
    number: int
    question: Question
    answer: asyncio.Future[dict[str, Any]]


class OngoingCall:
    """A call that runs in a task of its own, so that it can outlive one request of its client.

    ``followed`` links it to the client of the present request, which gets its notifications and questions.
    """

    def __init__(self, client: Client, make: Callable[[str], Awaitable[Result | InputNeeded]]) -> None:
        self.id = secrets.token_urlsafe(16)
        self.client = client
        self._make = make
        self._notifications: deque[tuple[str, Mapping[str, Any], int]] = deque()
        self._notification_bytes = 0
        self._open: list[_Open] = []
        self._asked = 0
        self._stirred = asyncio.Event()
        self._task: asyncio.Task[Result | InputNeeded] | None = None

    def start(self, done: Callable[[str, bool], object]) -> None:
        """Start the call; ``done`` is called with its id and whether it was cancelled, when it ends."""

        async def made() -> Result | InputNeeded:
            begin_call(self.id)
            return await self._make(self.id)

        def over(task: asyncio.Task[Any]) -> None:
            done(self.id, task.cancelled())
            _retrieved(task)
            for each in self._open:
                if not each.answer.done():
                    each.answer.set_exception(RefusedQuestion(_INVALID_REQUEST, "the call is over"))
            self._stirred.set()

        self._task = asyncio.get_running_loop().create_task(made())
        self._task.add_done_callback(over)

    def cancel(self) -> None:
        """Cancel the call at the upstream."""
        assert self._task is not None
        self._task.cancel()

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Queue a notification of the upstream."""
        self._notifications.append((method, params, len(json.dumps(params))))
        self._notification_bytes += self._notifications[-1][2]
        while len(self._notifications) > MAX_SAID or self._notification_bytes > MAX_SAID_BYTES:
            self._next_notification()
        self._stirred.set()

    def _next_notification(self) -> tuple[str, Mapping[str, Any]]:
        method, params, size = self._notifications.popleft()
        self._notification_bytes -= size
        return method, params

    async def ask_client(self, ability: Ability, params: Mapping[str, Any]) -> dict[str, Any]:
        """The client's answer to a question of the upstream. Raises ``RefusedQuestion``."""
        if not self.client.accepts(ability):
            raise RefusedQuestion(_INVALID_REQUEST, f"the client does not support {ability}")
        if len(self._open) >= MAX_QUESTIONS:
            raise RefusedQuestion(_INVALID_REQUEST, f"more than {MAX_QUESTIONS} questions at the same time")
        question = {key: value for key, value in params.items() if key != "_meta"}
        self._asked += 1
        put = Question(ability, question, once=ability == "elicitation")
        ask_client = _Open(self._asked, put, asyncio.get_running_loop().create_future())
        self._open.append(ask_client)
        self._stirred.set()
        try:
            return await ask_client.answer
        finally:
            self._open.remove(ask_client)

    async def followed(self, client: Client, key: Callable[[int, Question], str]) -> Result | InputNeeded:
        """The call's result; until then ``client`` gets notifications and answers questions.

        ``key`` returns the key of a question. Raises what the call raises, and what ``client.ask`` raises
        except ``ToolFailure``, which is passed on to the upstream as a refusal.
        """
        assert self._task is not None
        self.client = client
        asking: asyncio.Task[dict[str, Any]] | None = None
        try:
            while True:
                self._stirred.clear()
                await self._pass_on(client)
                if self._task.done():
                    return self._task.result()
                if asking is not None and asking.done():
                    asking.result()
                    asking = None
                if asking is None and (waiting := [each for each in self._open if not each.answer.done()]):
                    asking = asyncio.get_running_loop().create_task(self._ask(client, waiting, key))
                    asking.add_done_callback(_retrieved)
                    asking.add_done_callback(lambda _: self._stirred.set())
                await self._stirred.wait()
        finally:
            if asking is not None:
                asking.cancel()

    async def _ask(
        self, client: Client, waiting: list[_Open], key: Callable[[int, Question], str]
    ) -> dict[str, Any]:
        keys = {key(each.number, each.question): each for each in waiting}
        try:
            answers = await client.ask({name: each.question for name, each in keys.items()})
        except ToolFailure as failure:
            for each in waiting:
                if not each.answer.done():
                    each.answer.set_exception(RefusedQuestion(_INVALID_REQUEST, failure.error))
            return {}
        for name, each in keys.items():
            if not each.answer.done():
                each.answer.set_result(dict(answers[name]))
        return answers

    async def _pass_on(self, client: Client) -> None:
        """Forward the queued notifications, as many as the client takes in ``_REPORT_SECONDS``."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_REPORT_SECONDS):
                while self._notifications:
                    await _forward(client, *self._next_notification())


def _retrieved(task: asyncio.Task[Any]) -> None:
    """Mark the task's error as retrieved, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()


async def _forward(client: Client, method: str, params: Mapping[str, Any]) -> None:
    if method == "notifications/progress":
        progress, total, message = (params.get(name) for name in ("progress", "total", "message"))
        if _is_number(progress):
            await client.progress(
                cast("float", progress),
                cast("float", total) if _is_number(total) else None,
                message if isinstance(message, str) else None,
            )
        return
    level, logger = params.get("level"), params.get("logger")
    if level in get_args(Level):
        await client.log(
            cast("Level", level), params.get("data"), logger if isinstance(logger, str) else None
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
