"""A run and its tool calls as entries, read off the loop's events."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...errors import BridgeError
from ...events import Answer, End, Event, Text, ToolCallFinished, ToolCallStarted
from ...messages.deltas import CallDelta, ReasoningDelta, TextDelta
from ...providers.deployments import Tried
from .entry import About, Entry, Status

__all__ = ["RunWatch"]

_SHOWN = (TextDelta, ReasoningDelta, CallDelta, Text)


@dataclass(slots=True)
class RunWatch:
    """Follows one run. ``redact`` takes secrets out of every text; ``texts`` keeps questions and answers."""

    about: About
    model: str
    provider: str
    redact: Callable[[str], str]
    texts: bool = False
    question: str = ""
    began: float = field(default_factory=time.perf_counter)
    at: float = field(default_factory=time.time)
    tried: list[Tried] = field(default_factory=list[Tried])
    _first_ms: float | None = None
    _calls: int = 0
    _started: dict[str, tuple[float, float, Any]] = field(default_factory=dict[str, tuple[float, float, Any]])
    _answer: Answer | None = None

    def seen(self, event: Event) -> Iterator[Entry]:
        """The entry of a call that has ended with ``event``, if one has."""
        if self._first_ms is None and isinstance(event, _SHOWN):
            self._first_ms = _since(self.began)
        if isinstance(event, ToolCallStarted):
            self._calls += 1
            self._started[event.call_id] = (time.time(), time.perf_counter(), event.arguments)
        elif isinstance(event, ToolCallFinished):
            yield self._call(event)
        elif isinstance(event, End):
            self._answer = event.answer

    def ended(self, error: BaseException | None) -> Entry:
        """The entry of the run, which ``error`` ended, if one did."""
        answer = self._answer
        status: Status = "ok"
        code, why = "", ""
        if isinstance(error, BridgeError):
            status, code, why = "error", error.code, error.message
        elif isinstance(error, Exception):
            status, code, why = "error", "unexpected", type(error).__name__
        elif answer is None:
            status = "cancelled"
        elif answer.broken:
            status, code, why = "error", answer.stop, answer.reason
        usage = None if answer is None else answer.usage
        return Entry(
            "run",
            self.at,
            self.about,
            self.model,
            self.provider,
            status=status,
            error_code=code,
            error=self.redact(why)[:500],
            first_ms=self._first_ms,
            total_ms=_since(self.began),
            input_tokens=usage.input_tokens if usage else 0,
            output_tokens=usage.output_tokens if usage else 0,
            usd=None if answer is None else answer.usd,
            tools=self._calls,
            tried=tuple(each.as_dict() | {"reason": self.redact(each.reason)[:500]} for each in self.tried),
            text=self._kept({"question": self.question, "answer": answer.content if answer else ""}),
        )

    def _call(self, event: ToolCallFinished) -> Entry:
        at, began, arguments = self._started.pop(event.call_id, (time.time(), time.perf_counter(), None))
        result = event.outcome.result
        failed = event.outcome.failed
        return Entry(
            "tool",
            at,
            self.about,
            self.model,
            self.provider,
            event.server,
            event.tool,
            "error" if failed else "ok",
            str(result.get("error_code") or "") if failed else "",
            self.redact(str(result.get("error") or ""))[:500] if failed else "",
            total_ms=_since(began),
            usd=0.0,
            text=self._kept({"arguments": arguments, "result": dict(result)}),
        )

    def _kept(self, what: Any) -> str:
        if not self.texts:
            return ""
        return self.redact(json.dumps(what, ensure_ascii=False, default=str))[:10_000]


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1_000, 3)
