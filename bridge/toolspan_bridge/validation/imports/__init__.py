"""Suites of other programs, read as our own: an importer is a file and a row in ``IMPORTERS``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...errors import UsageError
from ..suites import Suite
from . import inspect_samples, promptfoo, testmcpy
from .contract import Found, Imported, LeftOut
from .reading import MOST_SCENARIOS

__all__ = ["IMPORTERS", "Imported", "LeftOut", "importer_of", "load_imported"]

IMPORTERS: Mapping[str, Callable[[Path], Found]] = MappingProxyType(
    {
        "promptfoo": promptfoo.tests_of,
        "testmcpy": testmcpy.samples_of,
        "inspect": inspect_samples.included,
        "inspect-match": inspect_samples.matched,
    }
)
"""By what stands before the colon of ``--suite NAME:FILE``."""


def importer_of(name: str) -> str | None:
    """The importer that ``name`` begins with, as ``promptfoo:FILE`` does."""
    before, colon, _ = name.partition(":")
    return before if colon and before in IMPORTERS else None


def load_imported(importer: str, path: Path) -> Imported:
    """The suite that ``importer`` makes of ``path``, and what it could not take.

    Raises ``ConfigError`` and ``UsageError`` with file and line for what is no such file, and when nothing of
    it can be taken.
    """
    found = IMPORTERS[importer](path)
    if len(found.scenarios) > MOST_SCENARIOS:
        raise UsageError(
            f"{path} has {len(found.scenarios):,} scenarios, at most {MOST_SCENARIOS:,} are taken"
        )
    if not found.scenarios:
        raise UsageError(f"nothing in {path} can be taken as a suite{_reasons(found.left_out)}")
    contents = {"name": path.stem, "scenarios": _told_apart(found.scenarios)}
    return Imported(Suite.model_validate(contents), contents, found.left_out, found.notes)


def _told_apart(scenarios: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """``scenarios`` with a number behind the names that several have."""
    seen: Counter[str] = Counter()
    taken = {str(each["name"]) for each in scenarios}
    named: list[Mapping[str, Any]] = []
    for each in scenarios:
        name = str(each["name"])
        seen[name] += 1
        while seen[name] > 1 and f"{name} ({seen[name]})" in taken:
            seen[name] += 1
        named.append({**each, "name": f"{name} ({seen[name]})" if seen[name] > 1 else name})
    return named


def _reasons(left_out: Sequence[LeftOut]) -> str:
    if not left_out:
        return ": it has no tests of this program"
    more = f" (and {len(left_out) - 3} more)" if len(left_out) > 3 else ""
    return ": " + "; ".join(f"{each.place}: {each.why}" for each in left_out[:3]) + more
