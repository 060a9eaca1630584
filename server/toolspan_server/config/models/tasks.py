"""How a tool's calls become tasks."""

from __future__ import annotations

from typing import Literal

from ...schema.records import Record, choice, key
from ...schema.values import integer

_DAY = 86_400_000


class TaskConfig(Record):
    """A call gives its client a task at once, and its result later (MCP extension tasks, SEP-2663)."""

    support: Literal["optional", "required"] = key(
        choice("optional", "required"),
        "optional: a client without the extension waits for the result; required: it is refused.",
        default="optional",
    )
    ttl_ms: int = key(
        integer(1_000, _DAY),
        "How long a task is kept from its start, in milliseconds; what still runs then is ended.",
        default=3_600_000,
    )
    poll_interval_ms: int = key(
        integer(1, 3_600_000),
        "How often clients should ask for its state, in milliseconds.",
        default=1_000,
    )
    questions: Literal["before", "during"] = key(
        choice("before", "during"),
        "When the tool asks its client: before the task is made, or as part of it.",
        default="during",
    )
