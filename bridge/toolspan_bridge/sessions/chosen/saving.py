"""Which conversation is gone on with, and whether it is saved."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SavingChoice:
    """Whether to ``save`` the conversation; the ``name`` of the one to go on with (the beginning of an id,
    or ``latest``), if any, and whether to go on with a copy of it."""

    save: bool = True
    name: str | None = None
    fork: bool = False
