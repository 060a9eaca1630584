"""What stands between a validation and its models, its tools and its store: a recorder, a replay, a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..providers.pool import Providers
from ..toolbox._ways import Through
from .runs.events import OnBegin, RunBegan
from .runs.one_trial import AskModel, MadeTrial, as_made
from .storage.store import Store

__all__ = ["NOTHING_BETWEEN", "Between"]


def _same_providers(providers: Providers) -> Providers:
    return providers


def _same_store(store: Store) -> Store:
    return store


def _same_ask(ask: AskModel) -> AskModel:
    return ask


def _nothing_begins(began: RunBegan) -> None:
    del began


@dataclass(frozen=True, slots=True)
class Between:
    """``around`` gives what is asked in the place of providers, calls of tools go ``through``, ``made`` gives
    what is kept of the trial that was made in a place, and ``kept_in`` the store that it is put into in the
    place of one. ``asking`` gives what scenarios are put by in the place of that, and ``on_begin`` is told of
    the run. ``is_resumed``: an unfinished run is gone on with; ``at_once`` is how many trials run at the same
    time where nobody says."""

    around: Callable[[Providers], Providers] = _same_providers
    through: Through | None = None
    made: MadeTrial = as_made
    kept_in: Callable[[Store], Store] = _same_store
    asking: Callable[[AskModel], AskModel] = _same_ask
    on_begin: OnBegin = _nothing_begins
    is_resumed: bool = False
    at_once: int | None = 1


NOTHING_BETWEEN = Between(is_resumed=True, at_once=None)
"""Models and tools are asked, and trials are kept, as they come."""
