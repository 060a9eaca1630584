"""``validation``: from which rate a model is validated, and what becomes of one that is not."""

from __future__ import annotations

from typing import Literal

from ....schema.records import Record, key
from ....schema.values import Count, Fraction


class ValidationConfig(Record):
    """When a model counts as validated, and whether ask and chat use one that does not."""

    threshold: Fraction = key("The share of successful trials from which a model is validated.", default=0.8)
    minimum: Count = key(
        "The trials below which a model is no more than provisionally validated.", default=10
    )
    on_unvalidated: Literal["ignore", "warn", "refuse"] = key(
        "What ask and chat do with a model that is to have tools and is not validated with them: nothing, "
        "say so, or end before it is asked.",
        default="warn",
    )
