"""Two runs compared: which cells changed, and whether by more than chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from .counts import Counts
from .exact_tests import fisher_exact, holm

__all__ = ["ALPHA", "Cell", "CellName", "Comparison", "compared"]

ALPHA = Fraction(1, 20)
"""The corrected p below which a change is more than chance."""

CellName = tuple[str, str, str]
"""Model, suite and scenario; the scenario ``""`` is all of them together."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell in both runs, with ``p`` of Fisher's exact test, and ``corrected`` by Holm over all cells of its
    kind (whole models, or scenarios)."""

    name: CellName
    before: Counts
    now: Counts
    p: Fraction
    corrected: Fraction

    @property
    def change(self) -> Literal["better", "worse", "same"]:
        """Whether the rate rose or fell by more than chance."""
        if self.corrected >= ALPHA or self.now.rate == self.before.rate:
            return "same"
        return "better" if self.now.rate > self.before.rate else "worse"

    def as_dict(self) -> dict[str, Any]:
        """``{"model_id", "suite", "scenario", "before", "now", "p", "p_corrected", "change"}``."""
        model, suite, scenario = self.name
        return {
            "model_id": model,
            "suite": suite,
            "scenario": scenario or None,
            "before": self.before.as_dict(),
            "now": self.now.as_dict(),
            "p": round(float(self.p), 9),
            "p_corrected": round(float(self.corrected), 9),
            "change": self.change,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """The ``cells`` that both runs have, and the names of those that only one of them has."""

    cells: tuple[Cell, ...]
    only_before: tuple[CellName, ...] = ()
    only_now: tuple[CellName, ...] = ()

    @property
    def regressions(self) -> tuple[Cell, ...]:
        """The cells that are worse by more than chance."""
        return tuple(cell for cell in self.cells if cell.change == "worse")

    @property
    def improvements(self) -> tuple[Cell, ...]:
        """The cells that are better by more than chance."""
        return tuple(cell for cell in self.cells if cell.change == "better")

    def as_dict(self) -> dict[str, Any]:
        """``{"alpha", "cells", "only_before", "only_now"}``, a name as ``[model, suite, scenario]``."""
        return {
            "alpha": float(ALPHA),
            "cells": [cell.as_dict() for cell in self.cells],
            "only_before": [list(name) for name in self.only_before],
            "only_now": [list(name) for name in self.only_now],
        }


def compared(before: Mapping[CellName, Counts], now: Mapping[CellName, Counts]) -> Comparison:
    """Both runs, cell by cell, in the order of ``now``."""
    both = [name for name in now if name in before]
    values = {name: _p(before[name], now[name]) for name in both}
    corrected: dict[CellName, Fraction] = {}
    for whole in (True, False):
        kind = [name for name in both if (name[2] == "") is whole]
        corrected.update(zip(kind, holm([values[name] for name in kind]), strict=True))
    return Comparison(
        tuple(Cell(name, before[name], now[name], values[name], corrected[name]) for name in both),
        tuple(name for name in before if name not in now),
        tuple(name for name in now if name not in before),
    )


def _p(before: Counts, now: Counts) -> Fraction:
    return fisher_exact(before.successes, before.n, now.successes, now.n)
