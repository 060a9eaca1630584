"""The suite that ``--suite`` names."""

from __future__ import annotations

from pathlib import Path

from ...validation import Suite, default_suite, load_suite
from ...validation.bfcl import BfclSuite, load_bfcl
from ...validation.imports import Imported, importer_of, load_imported
from ..terminal.output import print_note

BFCL = "bfcl:"
"""What stands before the path of the leaderboard's files."""


def named_suite(name: str | None) -> Suite | BfclSuite:
    """The suite in the file ``name``, the leaderboard's cases of ``bfcl:PATH``, what can be taken of another
    program's ``promptfoo:FILE``, or the built-in suite.

    Raises ``ConfigError`` and ``UsageError`` with file and line.
    """
    if name is None:
        return default_suite()
    if importer := importer_of(name):
        imported = load_imported(importer, Path(name.partition(":")[2]))
        note_left_out(imported)
        return imported.suite
    if name.startswith(BFCL):
        return load_bfcl(Path(name.removeprefix(BFCL)))
    return load_suite(Path(name))


def file_of(name: str | None) -> Path | None:
    """The file of our own form that ``--suite`` names, in which faults have a place; ``None`` for others."""
    return None if name is None or name.startswith(BFCL) or importer_of(name) else Path(name)


def note_left_out(imported: Imported) -> None:
    """Say on stderr what could not be taken, and what else is to be known."""
    for note in imported.notes:
        print_note(note)
    for each in imported.left_out:
        print_note(f"{each.place}: left out: {each.why}")
