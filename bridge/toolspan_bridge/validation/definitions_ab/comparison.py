"""The trials of one suite with two versions of the tools, compared: in all, by tool and by scenario."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from ..evidence.comparison import ALPHA
from ..evidence.confusion import expected_tools
from ..evidence.exact_tests import holm
from ..evidence.paired import Paired
from ..storage.trial import Trial

__all__ = ["DefinitionsCell", "ModelDifference", "differences"]

_Outcomes = list[tuple[bool, bool]]


@dataclass(frozen=True, slots=True)
class DefinitionsCell:
    """The pairs of a tool or a scenario, ``name``, or of all, with the name ``""``. ``corrected`` is the p of
    McNemar's exact test, corrected by Holm over the cells of its kind."""

    name: str
    pairs: Paired
    corrected: Fraction

    @property
    def change(self) -> Literal["better", "worse", "same"]:
        """Whether the rate rose or fell by more than chance."""
        if self.corrected >= ALPHA or not self.pairs.difference:
            return "same"
        return "better" if self.pairs.difference > 0 else "worse"

    def as_dict(self) -> dict[str, Any]:
        """As ``Paired.as_dict``, with ``"name"``, ``null`` for all, ``"p_corrected"`` and ``"change"``."""
        corrected = round(float(self.corrected), 9)
        return {
            "name": self.name or None,
            **self.pairs.as_dict(),
            "p_corrected": corrected,
            "change": self.change,
        }


@dataclass(frozen=True, slots=True)
class ModelDifference:
    """What the other definitions change for ``model_id``: over ``all`` pairs, by the tools that were expected
    (by their names before), and by scenario. ``unpaired`` trials have no partner: that ended by an error."""

    model_id: str
    all: DefinitionsCell
    tools: tuple[DefinitionsCell, ...]
    scenarios: tuple[DefinitionsCell, ...]
    unpaired: int = 0

    def as_dict(self) -> dict[str, Any]:
        """``{"model_id", "all", "tools", "scenarios", "unpaired"}``."""
        return {
            "model_id": self.model_id,
            "all": self.all.as_dict(),
            "tools": [cell.as_dict() for cell in self.tools],
            "scenarios": [cell.as_dict() for cell in self.scenarios],
            "unpaired": self.unpaired,
        }


def differences(before: Iterable[Trial], now: Iterable[Trial]) -> list[ModelDifference]:
    """What changed from the trials ``before`` to those of ``now``, for each model that has both.

    The first trial of a scenario before is paired with its first one now, and so on: they were made under the
    same conditions, and nothing else tells the trials of a scenario apart. Trials that ended by an error of
    the provider are left out.
    """
    earlier, later = _by_model(before), _by_model(now)
    return [_difference(model, earlier[model], later[model]) for model in earlier if model in later]


def _by_model(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    found: dict[str, list[Trial]] = {}
    for trial in trials:
        found.setdefault(trial.model_id, []).append(trial)
    return found


def _by_scenario(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    found: dict[str, list[Trial]] = {}
    for trial in trials:
        found.setdefault(trial.scenario, []).extend([] if trial.is_error else [trial])
    return found


def _difference(model: str, before: Sequence[Trial], now: Sequence[Trial]) -> ModelDifference:
    earlier, later = _by_scenario(before), _by_scenario(now)
    scenarios: dict[str, _Outcomes] = {}
    tools: dict[str, _Outcomes] = {}
    paired = 0
    for scenario, mine in earlier.items():
        pairs = list(zip(mine, later.get(scenario, []), strict=False))
        outcomes = [(one.success, other.success) for one, other in pairs]
        paired += len(pairs)
        if outcomes:
            scenarios[scenario] = outcomes
        for tool in dict.fromkeys(expected_tools(mine[0]) or () if mine else ()):
            tools.setdefault(tool, []).extend(outcomes)
    whole = Paired.of(pair for outcomes in scenarios.values() for pair in outcomes)
    return ModelDifference(
        model,
        DefinitionsCell("", whole, whole.p),
        _cells({tool: tools[tool] for tool in sorted(tools) if tools[tool]}),
        _cells(scenarios),
        len(before) + len(now) - 2 * paired,
    )


def _cells(outcomes: Mapping[str, _Outcomes]) -> tuple[DefinitionsCell, ...]:
    cells = [DefinitionsCell(name, pairs := Paired.of(found), pairs.p) for name, found in outcomes.items()]
    corrected = holm([cell.corrected for cell in cells])
    return tuple(replace(cell, corrected=p) for cell, p in zip(cells, corrected, strict=True))
