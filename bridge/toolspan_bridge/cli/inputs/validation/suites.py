"""The suites that ``--suite`` names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ....validation import Suite, default_suite, load_suite
from ....validation.bfcl import BfclSuite, left_out_notes, load_bfcl, suite_of
from ....validation.imports import Imported, importer_of, load_imported
from ...terminal.output import print_note

__all__ = ["BFCL", "NamedSuite", "named_suite", "note_left_out", "suites_to_run"]

BFCL = "bfcl:"
"""What stands before the path of the leaderboard's files."""


@dataclass(frozen=True, slots=True)
class NamedSuite:
    """A suite to be run, and the YAML ``file`` that it was read from; ``None`` where there is none."""

    suite: Suite
    file: Path | None = None


def suites_to_run(names: Sequence[str]) -> list[NamedSuite]:
    """The suites that ``names`` are, or the built-in one. What is left out of them is said on stderr. Raises
    as ``named_suite``."""
    return [_to_run(name) for name in names] if names else [NamedSuite(default_suite())]


def _to_run(name: str) -> NamedSuite:
    found = named_suite(name)
    if isinstance(found, Suite):
        return NamedSuite(found, None if importer_of(name) else Path(name))
    for note in left_out_notes(found):
        print_note(note)
    return NamedSuite(suite_of(found))


def named_suite(name: str) -> Suite | BfclSuite:
    """The suite in the file ``name``, the leaderboard's cases of ``bfcl:PATH``, or what can be taken of
    another program's ``promptfoo:FILE``.

    Raises ``ConfigError`` and ``UsageError`` with file and line.
    """
    if importer := importer_of(name):
        imported = load_imported(importer, Path(name.partition(":")[2]))
        note_left_out(imported)
        return imported.suite
    if name.startswith(BFCL):
        return load_bfcl(Path(name.removeprefix(BFCL)))
    return load_suite(Path(name))


def note_left_out(imported: Imported) -> None:
    """Say on stderr what could not be taken, and what else is to be known."""
    for note in imported.notes:
        print_note(note)
    for each in imported.left_out:
        print_note(f"{each.place}: left out: {each.why}")
