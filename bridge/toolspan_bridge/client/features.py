"""What a client offers to servers, and within which limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from .elicitation import Elicitor
    from .kept_tasks import KeptTasks
    from .roots import Roots
    from .sampling import Sampler

TASKS = "io.modelcontextprotocol/tasks"
LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""The levels of servers' log messages, from the least."""
LOG_LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)
"""The levels of log messages, from the least."""


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """The most that servers get. What is beyond is refused, and said once.

    ``rounds`` of questions in one call; ``questions`` to the person, ``samples``, ``logs`` and characters of
    each log message (``log_chars``) in one call; ``session_samples`` of one server as long as it is
    connected. A sample has at most ``sample_tokens``, and those of one server ``session_tokens`` together,
    what went in and what came out. With ``progress_seconds`` a call that reports progress may take that long
    altogether, its timeout beginning anew with each report. A call that its server makes a task of may take
    ``task_seconds``. A server that makes a call only after a page was visited may take ``page_seconds`` to
    say that the person is done there; then the call is made again in any case.
    """

    rounds: int = 10
    questions: int = 16
    samples: int = 10
    session_samples: int = 100
    sample_tokens: int = 4_096
    session_tokens: int = 200_000
    logs: int = 100
    log_chars: int = 2_000
    progress_seconds: float | None = None
    task_seconds: float = 3_600.0
    page_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class ClientFeatures:
    """What servers may ask for: what is ``None`` is not offered to them.

    ``log_level`` is the least of the log messages that they are to send during calls. ``tasks`` keeps which
    calls run as tasks, so that the same call is taken up again after a restart.
    """

    elicitor: Elicitor | None = None
    sampler: Sampler | None = None
    roots: Roots | None = None
    log_level: LogLevel = "info"
    limits: ClientLimits = field(default_factory=ClientLimits)
    tasks: KeptTasks | None = None

    def capabilities(self) -> Mapping[str, Any]:
        """``ClientCapabilities``, as they are declared to servers."""
        offered: dict[str, Any] = {"extensions": {TASKS: {}}}
        if self.elicitor is not None:
            offered["elicitation"] = {"form": {}, "url": {}}
        if self.sampler is not None:
            offered["sampling"] = {"tools": {}}
        if self.roots is not None:
            offered["roots"] = {"listChanged": True}
        return offered
