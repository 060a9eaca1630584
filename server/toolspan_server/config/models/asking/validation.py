"""``validation``: from which rate a model is validated, and what becomes of one that is not."""

from __future__ import annotations

from typing import Literal

from ....engines.databases._urls import checked_url, host_of
from ....problems import Fault, Faulty
from ....schema.keys import CHOICE, only
from ....schema.records import Record, key
from ....schema.values import Count, Fraction

_STORES = ("sqlite:///", "postgresql://", "postgres://", "postgresql+psycopg://")


def _checked_store(written: str) -> str:
    """``written``. Raises ``Faulty``, which never shows it: it may hold a password."""
    if not written.startswith(_STORES):
        raise Faulty(Fault((), "is no place of a validation store", "write sqlite:///FILE or postgresql://…"))
    return checked_url(written)


class ValidationConfig(Record):
    """When a model counts as validated, and what ask and chat make of what was measured of one."""

    store: str | None = key(
        "Where trials are kept: sqlite:///FILE (relative to the config's folder) or "
        "postgresql://USER:${PASSWORD}@HOST/NAME, which several machines may share; a file in state_dir when "
        "absent.",
        least=1,
        most=2_000,
        check=_checked_store,
        hidden=True,
        default=None,
    )
    threshold: Fraction = key(
        "The share of successful trials from which a model is validated.", default=0.8, inert=CHOICE
    )
    minimum: Count = key(
        "The trials below which a model is no more than provisionally validated.", default=10, inert=CHOICE
    )
    on_unvalidated: Literal["ignore", "warn", "refuse"] = key(
        "What ask and chat do with a model that is to have tools and is not validated with them: nothing, "
        "say so, or end before it is asked.",
        default="warn",
        inert=only("warn", "refuse"),
    )
    better_mode: Literal["use", "say", "ignore"] = key(
        "What ask and chat do with a model that succeeds more often by prompts than by native calls, with "
        "these tools and by more than chance: use it so and say that, only say it, or neither. A model that "
        "is named with prompt: or native: is used as named.",
        default="use",
        inert=CHOICE,
    )
    failing_tools: Literal["offer", "last", "leave_out"] = key(
        "What ask and chat do with a tool that the model fails with, the upper end of the interval of its "
        "trials being below the threshold: offer it like any other, after all others, or not at all. It is "
        "said.",
        default="offer",
        inert=CHOICE,
    )
    concurrency: dict[str, Count] = key(
        "How many trials of a provider validate runs at once, by the provider's name, as in {ollama: 1}. Of "
        "the others 16, and 2 of those on this machine or network.",
        factory=dict,
    )

    @property
    def store_host(self) -> str | None:
        """The host of the store; ``None`` where nothing leaves this machine."""
        return None if self.store is None else host_of(self.store)
