"""What a run is to do: every scenario of its suites, put to every model, several times, under numbers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from ..fingerprint import hash_of, toolspan_version
from ..suites import Scenario, Suite
from .attempt import Place

__all__ = ["Cell", "Plan", "hash_of_suite"]


def hash_of_suite(suite: Suite) -> str:
    """The hash of what ``suite`` asks and expects; its name has no part in it."""
    content: Any = suite.model_dump(exclude={"name"}, exclude_defaults=True)
    more = [each.identity for each in suite.scenarios if each.identity is not None]
    return hash_of([content, more] if more else content)


@dataclass(frozen=True, slots=True)
class Cell:
    """One planned trial: the ``trial``-th, from 1, of ``scenario`` with ``model``. ``number`` is its place in
    the plan, from 1."""

    number: int
    model: str
    suite: Suite
    scenario: Scenario
    trial: int

    @property
    def place(self) -> Place:
        """Its place, which is the same in whatever plan it is."""
        return Place(self.model, self.suite.name, self.scenario.title, self.trial)


@dataclass(frozen=True)
class Plan:
    """Each scenario of ``suites``, ``trials`` times, with each of ``models`` (``provider/model``).

    The numbers go through model after model; of each, every scenario is tried once before one is tried again,
    so that what was done when a run ends early is spread over all of them. Nothing is made before it is asked
    for: a plan of a million trials costs what its suites cost.
    """

    models: tuple[str, ...]
    suites: tuple[Suite, ...]
    trials: int

    def __len__(self) -> int:
        return len(self.models) * self.of_model

    @property
    def of_model(self) -> int:
        """How many trials there are of each model."""
        return self.trials * self._ends[-1]

    def cell(self, number: int) -> Cell:
        """The planned trial of that number. Raises ``IndexError`` where there is none."""
        if not 1 <= number <= len(self):
            raise IndexError(f"no trial {number}: the plan has {len(self)}")
        model, rest = divmod(number - 1, self.of_model)
        trial, place = divmod(rest, self._ends[-1])
        at = bisect_right(self._ends, place)
        suite = self.suites[at]
        scenario = suite.scenarios[place - (self._ends[at - 1] if at else 0)]
        return Cell(number, self.models[model], suite, scenario, trial + 1)

    def cells(self, model: str) -> Iterator[Cell]:
        """The planned trials of ``model``, in their order."""
        first = self.models.index(model) * self.of_model
        return map(self.cell, range(first + 1, first + self.of_model + 1))

    @property
    def digest(self) -> str:
        """The hash of what was asked for. Two plans of the same one may differ in what their suites hold:
        ``contents`` tells that."""
        return hash_of([list(self.models), [suite.name for suite in self.suites], self.trials])

    @cached_property
    def suite_hashes(self) -> dict[str, str]:
        """The hash of each suite, by its name."""
        return {suite.name: hash_of_suite(suite) for suite in self.suites}

    @property
    def contents(self) -> dict[str, Any]:
        """The plan as JSON: ``{"models", "suites": {NAME: HASH}, "trials", "toolspan"}``."""
        return {
            "models": list(self.models),
            "suites": self.suite_hashes,
            "trials": self.trials,
            "toolspan": toolspan_version(),
        }

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(len(suite.scenarios) for suite in self.suites))
