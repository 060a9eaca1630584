"""A run and its tool calls as entries, read off the loop's events."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...errors import BridgeError
from ...events import (
    Answer,
    End,
    Event,
    SamplingAnswer,
    SubagentEvent,
    Text,
    ToolCallFinished,
    ToolCallStarted,
    UsageReported,
)
from ...messages import Usage
from ...messages.deltas import CallDelta, ReasoningDelta, TextDelta
from ...providers.deployments import Tried
from ...providers.prices import Pricing
from ...sessions.costs import innermost
from .entry import About, Entry, Status

__all__ = ["RunWatch", "error_of"]

_SHOWN = (TextDelta, ReasoningDelta, CallDelta, Text)
_WHOLE = ("length", "limit")
"""Ways to end that leave an answer: at a limit of the request or of the config."""


@dataclass(slots=True)
class RunWatch:
    """Follows one run, whose requests cost what ``pricing`` says. ``redact`` takes secrets out of every text;
    ``texts`` keeps questions and answers. ``is_enough``: whoever asked needs no more of it than came, so that
    it is no run that was left; ``tried`` are the deployments that were asked until now, ``left_out`` notes on
    what was left out of requests to them."""

    about: About
    model: str
    provider: str
    redact: Callable[[str], str]
    texts: bool = False
    question: str = ""
    pricing: Pricing | None = None
    is_enough: bool = False
    began: float = field(default_factory=time.perf_counter)
    at: float = field(default_factory=time.time)
    tried: list[Tried] = field(default_factory=list[Tried])
    left_out: list[str] = field(default_factory=list[str])
    _first_ms: float | None = None
    _calls: int = 0
    _started: dict[str, tuple[float, float, Any]] = field(default_factory=dict[str, tuple[float, float, Any]])
    _answer: Answer | None = None
    _usage: Usage = field(default_factory=Usage)
    _usd: float | None = 0.0

    @property
    def calls(self) -> int:
        """How many calls of tools were begun."""
        return self._calls

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
        self._count(innermost(event) if isinstance(event, SubagentEvent) else event)

    def ended(self, error: BaseException | None) -> Entry:
        """The entry of the run, which ``error`` ended, if one did."""
        answer = self._answer
        status: Status = "ok"
        code, why = "", ""
        if isinstance(error, Exception):
            status, (code, why) = "error", error_of(error)
        elif answer is None and not self.is_enough:
            status = "cancelled"
        elif answer is not None and answer.broken and answer.stop not in _WHOLE:
            status, code, why = "error", answer.stop, answer.reason
        usage = self._used(answer)
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
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            usd=self._cost(answer, status),
            tools=self._calls,
            tried=tuple(each.as_dict() | {"reason": self.redact(each.reason)[:500]} for each in self.tried),
            text=self._kept({"question": self.question, "answer": answer.content if answer else ""}),
        )

    def _count(self, event: Event) -> None:
        if not isinstance(event, UsageReported | SamplingAnswer):
            return
        self._usage += event.usage
        if self.pricing is not None:
            cost = 0.0 if self.pricing.is_free else self.pricing.cost(event.usage)
            self._usd = None if cost is None or self._usd is None else self._usd + cost

    @property
    def _is_counted(self) -> bool:
        return bool(self._usage.input_tokens or self._usage.output_tokens)

    def _used(self, answer: Answer | None) -> Usage:
        return self._usage if self._is_counted or answer is None else answer.usage

    def _cost(self, answer: Answer | None, status: Status) -> float | None:
        """What it cost; not known where it was left before its first turn was over."""
        if self.pricing is None:
            return None if answer is None else answer.usd
        if self._is_counted:
            return self._usd
        return 0.0 if self.pricing.is_free or status == "error" else None

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


def error_of(error: Exception) -> tuple[str, str]:
    """The code and the words of ``error``; of one that is not ours its name alone."""
    if isinstance(error, BridgeError):
        return error.code, error.message
    return "unexpected", type(error).__name__


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1_000, 3)
