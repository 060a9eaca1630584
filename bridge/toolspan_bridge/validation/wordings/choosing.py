"""Which wording of the prompt format serves a model, measured; which rendering of native calls that it wrote
as text; and which of the two serves it better.

The choice for a model is in the validation store. From then on ``prompt:provider/model`` has that wording and
``provider/model`` that rendering; ``prompt.NAME:provider/model`` and ``native.NAME:provider/model`` have any
other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import UsageError
from ...formats.prompt import renderings, wordings
from ..evidence.counts import Counts
from ..storage.trial import Trial, timestamp
from .choice import Measured, WordingChoice

__all__ = ["choose_wording", "ways_of"]


def ways_of(models: Sequence[str]) -> tuple[str, ...]:
    """Each of ``models`` (``provider/model``) by its native calls in each rendering, the usual one first, and
    by each wording of the prompt. They are to be asked without regard to earlier choices.

    Raises ``UsageError`` for a provider that takes no prompt.
    """
    ways: list[str] = []
    for model in models:
        if model.startswith(("offline/", "scripted/")):
            raise UsageError(f"{model} takes no prompt: name another model to choose a wording for")
        ways += _native(model).values()
        ways += _prompted(model).values()
    return tuple(ways)


def _native(model: str) -> dict[str, str]:
    others = (name for name in renderings.RENDERINGS if name != renderings.DEFAULT)
    return {renderings.DEFAULT: model} | {name: f"native.{name}:{model}" for name in others}


def _prompted(model: str) -> dict[str, str]:
    return {name: f"prompt.{name}:{model}" for name in wordings.WORDINGS}


def choose_wording(model: str, tried: Mapping[str, Sequence[Trial]]) -> WordingChoice | None:
    """The best wording and the best rendering of ``model`` by the trials of its ``ways_of``: those with most
    successes; of equal ones the usual one, then the one with the fewest tokens. ``None`` where a way has no
    trials.
    """
    if not all(tried.get(way, ()) for way in ways_of([model])):
        return None
    native = {name: _measured(tried[way]) for name, way in _native(model).items()}
    prompted = {name: _measured(tried[way]) for name, way in _prompted(model).items()}
    wording, rendering = _best(prompted, wordings.DEFAULT), _best(native, renderings.DEFAULT)
    return WordingChoice(model, wording, native[rendering], prompted, timestamp(), rendering, native)


def _best(measured: Mapping[str, Measured], usual: str) -> str:
    return max(measured, key=lambda name: (measured[name].rate, name == usual, -measured[name].tokens))


def _measured(trials: Sequence[Trial]) -> Measured:
    counts = Counts.of(trials)
    return Measured(counts.n, counts.successes, sum(trial.tokens for trial in trials if not trial.is_error))
