"""One call at a server while it runs: what the server says and asks in it."""

from __future__ import annotations

import json
import math
import secrets
import time
from collections.abc import Mapping
from typing import Any, TypeGuard

from ..client import LOG_LEVELS, ClientFeatures
from ._awaited_pages import AwaitedPages
from ._call_clock import CallClock
from ._call_questions import CallQuestions, SamplesTaken
from .reports import CallLog, CallNotice, CallProgress, Report

_PROGRESS_SECONDS = 0.1
"""The least time between two reports of progress; of those that come faster the last one counts."""


class ActiveCall:
    """A call of ``tool`` at ``server``. Its ``id`` is also the token of its progress."""

    def __init__(
        self,
        server: str,
        tool: str,
        features: ClientFeatures,
        taken: SamplesTaken,
        pages: AwaitedPages,
        report: Report,
        clock: CallClock,
    ) -> None:
        self.id = secrets.token_urlsafe(12)
        self.tool = tool
        self.questions = CallQuestions(server, tool, features, taken, pages, report, clock)
        self._limits = features.limits
        self._least = LOG_LEVELS.index(features.log_level)
        self._report = report
        self._clock = clock
        self._logs = 0
        self._progress: float = -math.inf
        self._told_at = -math.inf
        self._untold: CallProgress | None = None

    def progress(self, params: Mapping[str, Any]) -> None:
        """Take a report of progress, if it is more than the one before (MCP, basic/utilities/progress)."""
        progress, total, message = (params.get(name) for name in ("progress", "total", "message"))
        if not _is_number(progress) or progress <= self._progress:
            return
        self._progress = progress
        self._clock.progress()
        words = message if isinstance(message, str) else ""
        self._untold = CallProgress(self._progress, total if _is_number(total) else None, self._short(words))
        if time.monotonic() - self._told_at >= _PROGRESS_SECONDS:
            self._tell()

    def log(self, params: Mapping[str, Any]) -> None:
        """Take a log message: bounded in number and length, and of the levels that are wanted."""
        level, data, logger = (params.get(name) for name in ("level", "data", "logger"))
        if level not in LOG_LEVELS or LOG_LEVELS.index(level) < self._least:
            return
        self._logs += 1
        if self._logs > self._limits.logs:
            return
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        self._report(CallLog(level, self._short(text), logger[:100] if isinstance(logger, str) else ""))

    def tell(self, text: str) -> None:
        """Tell the person something about the call, in one sentence."""
        self._report(CallNotice(text))

    def end(self) -> None:
        """The call is over: report what was held back."""
        self.questions.end()
        if self._untold is not None:
            self._tell()
        if (more := self._logs - self._limits.logs) > 0:
            text = f"{self.tool} sent {more:,} more log messages than the {self._limits.logs} that are shown"
            self._report(CallNotice(text))

    def _tell(self) -> None:
        if self._untold is not None:
            self._report(self._untold)
        self._untold, self._told_at = None, time.monotonic()

    def _short(self, text: str) -> str:
        most = self._limits.log_chars
        return text if len(text) <= most else text[: most - 1] + "…"


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
