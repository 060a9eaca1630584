"""Settings of tools whose calls become tasks."""

from __future__ import annotations

from typing import Literal

from ...schema.keys import CHOICE
from ...schema.records import Record, key

_DAY = 86_400_000


class TaskConfig(Record):
    """The client gets a task at once, and the result later (MCP extension tasks, SEP-2663)."""

    support: Literal["optional", "required"] = key(
        "optional: a client without the extension waits for the result; required: it is refused.",
        default="optional",
        inert=CHOICE,
    )
    ttl_ms: int = key(
        "How long a task is kept after its start, in milliseconds; a call that still runs then is cancelled.",
        least=1_000,
        most=_DAY,
        default=3_600_000,
        inert=CHOICE,
    )
    poll_interval_ms: int = key(
        "How often clients should ask for its state, in milliseconds.",
        least=1,
        most=3_600_000,
        default=1_000,
        inert=CHOICE,
    )
    questions: Literal["before", "during"] = key(
        "When the tool asks its client: before the task is created, or as part of it.",
        default="during",
        inert=CHOICE,
    )
