"""One task: a call whose result is fetched later, and what became of it."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from ...calls.client import ClientAnswer, Question
from ...config import TaskConfig
from ...errors import RequestRefused
from ..messages import jsonrpc

_log = logging.getLogger(__name__)

Status = Literal["working", "input_required", "completed", "failed", "cancelled"]
OnChange = Callable[["Task"], None]
Work = Callable[[], Awaitable[dict[str, Any]]]
Rendered = Callable[[Mapping[str, Question]], dict[str, Any]]


class Task:
    """One call and what became of it. ``on_change`` is called at every change of its status."""

    def __init__(self, owner: str | None, config: TaskConfig, on_change: OnChange) -> None:
        self.id = secrets.token_urlsafe(24)
        self.owner = owner
        self.status: Status = "working"
        self.message: str | None = None
        self.questions: dict[str, Question] = {}
        self._config = config
        self._on_change = on_change
        self._created = self._updated = _now()
        self._outcome: dict[str, Any] = {}
        self._answers: dict[str, asyncio.Future[ClientAnswer]] = {}
        self._running: asyncio.Task[None] | None = None

    @property
    def over(self) -> bool:
        """Whether its status is final."""
        return self.status not in ("working", "input_required")

    @property
    def result_bytes(self) -> int:
        """The size of its result as JSON; 0 while it has none."""
        result = self._outcome.get("result")
        return 0 if result is None else len(jsonrpc.dumps(result))

    def start(self, work: Work) -> None:
        """Run ``work``, whose result is the task's."""
        self._running = asyncio.get_running_loop().create_task(self._run(work))

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, ClientAnswer]:
        """Wait until the client has answered ``questions``; those of before are not asked again."""
        loop = asyncio.get_running_loop()
        for key, question in questions.items():
            if key not in self._answers:
                self._answers[key] = loop.create_future()
                self.questions[key] = question
        if self.questions:
            self._become("input_required")
        return {key: await asyncio.shield(self._answers[key]) for key in questions}

    def answer(self, answers: Mapping[str, ClientAnswer]) -> None:
        """Take the answers to open questions; what else is there is ignored."""
        for key in answers.keys() & self.questions.keys():
            del self.questions[key]
            self._answers[key].set_result(answers[key])
        if not self.questions and self.status == "input_required":
            self._become("working")

    def cancel(self) -> None:
        """End the call, unless it has ended."""
        if not self.over:
            self._end("cancelled")
            if self._running is not None:
                self._running.cancel()

    async def settled(self, seconds: float) -> None:
        """Wait until its call runs no more, for ``seconds`` at most."""
        if self._running is not None:
            await asyncio.wait({self._running}, timeout=seconds)

    def seed(self) -> dict[str, Any]:
        """``Task`` as its creation is answered."""
        return {
            "taskId": self.id,
            "status": self.status,
            **({} if self.message is None else {"statusMessage": self.message}),
            "createdAt": self._created,
            "lastUpdatedAt": self._updated,
            "ttlMs": self._config.ttl_ms,
            "pollIntervalMs": self._config.poll_interval_ms,
        }

    def detailed(self, rendered: Rendered) -> dict[str, Any]:
        """``DetailedTask``: with its result or error, or its open questions as they are ``rendered``."""
        asked = {"inputRequests": rendered(self.questions)} if self.questions and not self.over else {}
        return {**self.seed(), **self._outcome, **asked}

    async def _run(self, work: Work) -> None:
        try:
            result = await work()
        except RequestRefused as refused:
            more = {} if refused.data is None else {"data": refused.data}
            self._end("failed", error={"code": refused.code, "message": refused.message, **more})
        except Exception:
            _log.exception("a task failed")
            self._end("failed", error={"code": jsonrpc.INTERNAL_ERROR, "message": "Internal error"})
        else:
            self._end("completed", result=result)

    def _end(self, status: Status, **outcome: Any) -> None:
        if not self.over:
            self._outcome = outcome
            self._become(status)

    def _become(self, status: Status) -> None:
        self.status = status
        self._updated = _now()
        self._on_change(self)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
