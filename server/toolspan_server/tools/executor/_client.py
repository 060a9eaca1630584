"""The client of a call, as the tool sees it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from typing_extensions import override

from ...calls.client import (
    Client,
    ClientAnswer,
    ClientWrapper,
    Level,
    Question,
)
from ...common.json_values import (
    JsonSanitizer,
    NotJson,
    OverBudget,
    dotted,
    repaired,
    shortened,
)
from ...errors import ToolFailure
from ._clock import Clock

_MOST_VALUES = 10_000
_MOST_BYTES = 262_144
_LONGEST_MESSAGE = 4_000


class ToolsClient(ClientWrapper):
    """``client`` for one tool: reports and questions reach it as plain JSON, bounded, without secrets.

    While the client is asked, the tool's ``clock`` is paused, for at most ``answer_seconds`` each time. It is
    held for good where the call goes on as a task, which has a time of its own.
    """

    def __init__(
        self,
        client: Client,
        clock: Clock,
        answer_seconds: float,
        redact: Callable[[str], str] | None,
    ) -> None:
        super().__init__(client)
        self._clock = clock
        self._answer_seconds = answer_seconds
        self._redact = redact

    @override
    async def ask(self, questions: Mapping[str, Question]) -> dict[str, ClientAnswer]:
        """The client's answers; see ``Client.ask``. Raises ``ToolFailure`` when none arrives in time."""
        asked = {key: self._question(question) for key, question in questions.items()}
        limit = asyncio.timeout(self._answer_seconds)
        with self._clock.held():
            try:
                async with limit:
                    return await super().ask(asked)
            except TimeoutError:
                if not limit.expired():
                    raise
                raise _no_answer(self._answer_seconds) from None

    @override
    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress; numbers that are not finite are ignored."""
        if not math.isfinite(progress):
            return
        known = total if total is not None and math.isfinite(total) else None
        await super().progress(progress, known, None if message is None else self._text(message))

    @override
    async def log(self, level: Level, data: Any, logger: str | None = None) -> None:
        """Forward a log message; data that is too large, or not JSON, as the start of its text."""
        try:
            plain = self._plain(data)
        except (NotJson, OverBudget):
            plain = self._text(str(data))
        await super().log(level, plain, None if logger is None else self._text(logger))

    @override
    async def release(self) -> None:
        """Let go of the connection; see ``Client.release``."""
        if self.accepts("task"):
            self._clock.hold()
        await super().release()

    def _question(self, question: Question) -> Question:
        try:
            return replace(question, params=self._plain(dict(question.params)))
        except NotJson as fault:
            what = f"'{dotted(fault.path)}' {fault.what}"
        except OverBudget as limit:
            what = f"the question has more than {limit}"
        raise ToolFailure(f"The tool's question to the client cannot be sent: {what}")

    def _plain(self, value: Any) -> Any:
        return JsonSanitizer(_MOST_VALUES, _MOST_BYTES, on_text=self._redact).copy(value)

    def _text(self, text: str) -> str:
        whole = repaired(text[:_MOST_BYTES])
        return shortened(whole if self._redact is None else self._redact(whole), _LONGEST_MESSAGE)


def _no_answer(seconds: float) -> ToolFailure:
    return ToolFailure(
        f"The client did not answer the tool's question within {seconds:g} seconds (limits.answer_seconds)",
        error_code="no_answer",
        user_action="Answer the question in the client when the tool is called again.",
    )
