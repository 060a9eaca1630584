"""What is reported of a call while it runs: its progress, and its server's messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..client import Elicitation, Elicited, Sampled
    from ..events import Event

__all__ = [
    "CallElicitation",
    "CallElicited",
    "CallLog",
    "CallNotice",
    "CallProgress",
    "CallReport",
    "CallSampled",
    "CallSampling",
    "Report",
    "SubagentReport",
    "unreported",
]


@dataclass(frozen=True, slots=True)
class CallProgress:
    """How far a call is, in a unit of the tool's own; ``total`` is ``None`` where it is unknown."""

    progress: float
    total: float | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class CallLog:
    """A log message that a server sent during a call. ``level`` is one of syslog's words, as MCP has them."""

    level: str
    text: str
    logger: str = ""


@dataclass(frozen=True, slots=True)
class CallNotice:
    """Something about a call that the person should know, in one sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class CallElicitation:
    """A call waits for the person's answer to ``question``."""

    number: int
    question: Elicitation


@dataclass(frozen=True, slots=True)
class CallElicited:
    """The answer to the question of that ``number``."""

    number: int
    answer: Elicited


@dataclass(frozen=True, slots=True)
class CallSampling:
    """A call's server wants a model to be asked; ``params`` are those of ``sampling/createMessage``."""

    number: int
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallSampled:
    """What came of the ``CallSampling`` of that ``number``: the ``result`` that the server gets and what the
    model ``sampled``, or why it was ``refused``."""

    number: int
    result: Mapping[str, Any] | None = None
    sampled: Sampled | None = None
    refused: str = ""


@dataclass(frozen=True, slots=True)
class SubagentReport:
    """What happens while a sub-agent works that the call started; ``agent`` is what it does."""

    agent: str
    event: Event


CallReport = (
    CallProgress
    | CallLog
    | CallNotice
    | CallElicitation
    | CallElicited
    | CallSampling
    | CallSampled
    | SubagentReport
)
Report = Callable[[CallReport], None]
"""Takes a report at once and without raising."""


def unreported(report: CallReport) -> None:
    """Take no notice of ``report``."""
    del report
