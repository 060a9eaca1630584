"""``validation``: from which rate a model is validated, and what becomes of one that is not."""

from __future__ import annotations

from typing import Literal

from ....schema.records import Record, key
from ....schema.values import Count, Fraction


class ValidationConfig(Record):
    """When a model counts as validated, and what ask and chat make of what was measured of one."""

    threshold: Fraction = key("The share of successful trials from which a model is validated.", default=0.8)
    minimum: Count = key(
        "The trials below which a model is no more than provisionally validated.", default=10
    )
    on_unvalidated: Literal["ignore", "warn", "refuse"] = key(
        "What ask and chat do with a model that is to have tools and is not validated with them: nothing, "
        "say so, or end before it is asked.",
        default="warn",
    )
    better_mode: Literal["use", "say", "ignore"] = key(
        "What ask and chat do with a model that succeeds more often by prompts than by native calls, with "
        "these tools and by more than chance: use it so and say that, only say it, or neither. A model that "
        "is named with prompt: or native: is used as named.",
        default="use",
    )
    failing_tools: Literal["offer", "last", "leave_out"] = key(
        "What ask and chat do with a tool that the model fails with, the upper end of the interval of its "
        "trials being below the threshold: offer it like any other, after all others, or not at all. It is "
        "said.",
        default="offer",
    )
