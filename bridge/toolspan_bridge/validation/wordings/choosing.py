"""Which wording of the prompt format serves a model, measured; and whether its native calls serve it better.

The choice for a model is in the validation store. From then on ``prompt:provider/model`` has that wording,
and ``prompt.NAME:provider/model`` any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import UsageError
from ...formats.prompt.wordings import DEFAULT, WORDINGS
from ..evidence.counts import Counts
from ..storage.trial import Trial, timestamp
from .choice import Measured, WordingChoice

__all__ = ["choose_wording", "ways_of"]


def ways_of(models: Sequence[str]) -> tuple[str, ...]:
    """Each of ``models`` (``provider/model``) by its native calls, and by each wording of the prompt.

    Raises ``UsageError`` for a provider that takes no prompt.
    """
    ways: list[str] = []
    for model in models:
        if model.startswith(("offline/", "scripted/")):
            raise UsageError(f"{model} takes no prompt: name another model to choose a wording for")
        ways += [model, *(f"prompt.{name}:{model}" for name in WORDINGS)]
    return tuple(ways)


def choose_wording(model: str, tried: Mapping[str, Sequence[Trial]]) -> WordingChoice | None:
    """The best wording of ``model`` by the trials of its ``ways_of``: the one with most successes; of equal
    ones the default, then the one with the fewest tokens. ``None`` where a way has no trials.
    """
    ways = [tried.get(way, ()) for way in ways_of([model])]
    if not all(ways):
        return None
    native, *prompted = map(_measured, ways)
    measured = dict(zip(WORDINGS, prompted, strict=True))
    best = max(measured, key=lambda name: (measured[name].rate, name == DEFAULT, -measured[name].tokens))
    return WordingChoice(model, best, native, measured, timestamp())


def _measured(trials: Sequence[Trial]) -> Measured:
    counts = Counts.of(trials)
    return Measured(counts.n, counts.successes, sum(trial.tokens for trial in trials if not trial.is_error))
