"""Putting a suite into a file."""

from __future__ import annotations

from pathlib import Path

from ....errors import UsageError
from ....files.replacement import replace_file, why_not_written
from ....validation.suites.published_schema import suite_schema_text
from ....validation.suites.suite_text import is_edited
from ...init import put_schema_file
from ...terminal.output import emit_bytes

STDOUT = "-"
_SCHEMA = "toolspan.suite.schema.json"
_LARGEST = 8 * 1024 * 1024


def check_place(place: str, *, force: bool) -> None:
    """Raise ``UsageError`` when a suite cannot be written to ``place``, or what is there was edited."""
    if place == STDOUT:
        return
    path = Path(place)
    if path.is_dir() or not path.absolute().parent.is_dir():
        why = "it is a folder" if path.is_dir() else "its folder is not there"
        raise UsageError(f"{path} cannot be written: {why} (name another file)")
    if path.exists() and not force and _is_edited(path):
        raise UsageError(
            f"{path} is there and was edited, or is no suite of ours: name another, or add --force"
        )


def write_suite(place: str, text: str) -> None:
    """Put ``text`` at ``place`` in one step, with a line by which editors find the schema beside it; or on
    stdout. Raises ``UsageError``."""
    if place == STDOUT:
        emit_bytes(text.encode("utf-8", "replace"))
        return
    path = Path(place).resolve()
    schema = put_schema_file(path.parent, _SCHEMA, suite_schema_text())
    whole = f"# yaml-language-server: $schema={schema}\n{text}"
    try:
        replace_file(path, whole.encode("utf-8", "replace"), mode=0o644)
    except OSError as error:
        raise UsageError(f"{place} {why_not_written(error)}") from None


def _is_edited(path: Path) -> bool:
    try:
        return path.stat().st_size > _LARGEST or is_edited(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return True
