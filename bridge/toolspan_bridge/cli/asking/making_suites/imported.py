"""``validate --write-suite``: the suite of another program's file as our YAML."""

from __future__ import annotations

from pathlib import Path

from ....errors import UsageError
from ....validation.imports import importer_of, load_imported
from ....validation.suites.suite_text import suite_text
from ...inputs.validation.suites import note_left_out
from ...terminal.output import print_note
from ...terminal.program import command_line
from .writing import STDOUT, check_place, write_suite


def write_named_suite(name: str | None, place: str, *, force: bool) -> int:
    """Write the suite ``name`` (``promptfoo:FILE``) to ``place``; say what could not be taken.

    Raises ``UsageError`` for a name without an importer and for a place that was edited, and as
    ``load_imported``.
    """
    importer = importer_of(name or "")
    if name is None or importer is None:
        raise UsageError(
            "--write-suite writes the suite of another program: name it by --suite promptfoo:FILE"
        )
    check_place(place, force=force)
    path = Path(name.partition(":")[2])
    imported = load_imported(importer, path)
    note_left_out(imported)
    count = len(imported.suite.scenarios)
    comments = [f"{count} scenario{'' if count == 1 else 's'} from {path.name}, taken from {importer}."]
    comments += [f"Left out: {each.place}: {each.why}" for each in imported.left_out]
    write_suite(place, suite_text(imported.suite.name, [("", imported.contents["scenarios"])], comments))
    if place != STDOUT:
        print_note(f"{place} was written: {count} scenario{'' if count == 1 else 's'}")
        print_note(f"next: {command_line('validate', '--suite', place)}")
    return 0
