"""The archive for a report of a fault: what checks found, versions, the config and logs, without secrets."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path

from toolspan_server.common.state.private_files import list_private

from ...conversation.store import SUFFIX
from ...errors import UsageError
from ...files.replacement import replace_file
from ...sessions.kept.stored import store_of
from ..host import TERMINAL
from ..wire.redaction import redactor
from .finding import Finding
from .surroundings import Surroundings

_MOST_BYTES = 2_000_000
_PREFIXES = ("TOOLSPAN_", "XDG_", "PYTHON", "LANG", "LC_", "TERM", "NO_COLOR")


def write_bundle(
    path: Path,
    around: Surroundings,
    found: Mapping[str, Sequence[Finding]],
    logs: Sequence[Path],
    *,
    conversations: bool,
) -> None:
    """Write a zip archive to ``path``. Of a long file the last 2 MB are in it. Raises ``UsageError``."""
    if path.exists() and not zipfile.is_zipfile(path):
        raise UsageError(f"{path} is there and no archive: name another file")
    redact = redactor(around.config, around.files)
    buffer = io.BytesIO()
    try:
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in _contents(around, found, logs, conversations):
                archive.writestr(redact(name), redact(text))
        replace_file(path, buffer.getvalue())
    except OSError as error:
        raise UsageError(f"{error.filename or path}: {error.strerror}") from None


def _contents(
    around: Surroundings, found: Mapping[str, Sequence[Finding]], logs: Sequence[Path], conversations: bool
) -> Iterator[tuple[str, str]]:
    """The name and the text of each file."""
    report = {name: [each.as_dict() for each in findings] for name, findings in found.items()}
    yield "report.json", json.dumps(report, indent=2, ensure_ascii=False)
    yield "versions.txt", "\n".join(sorted({f"{each.name}=={each.version}" for each in distributions()}))
    yield "environment.json", json.dumps(_environment(), indent=2)
    for number, path in enumerate(around.files, 1):
        yield f"config/{number}-{path.name}", _tail(path)
    for number, path in enumerate(logs, 1):
        yield f"logs/{number}-{path.name}", _tail(path)
    if conversations:
        folder = store_of(around.config, around.choice, TERMINAL).folder
        for path in sorted(path for path, _ in list_private(folder) if path.suffix == SUFFIX):
            yield f"conversations/{path.name}", _tail(path)


def _environment() -> dict[str, str]:
    """The names of all variables; the values of those alone that say how Toolspan and Python behave."""
    return {
        name: value if name.startswith(_PREFIXES) else "(set)" for name, value in sorted(os.environ.items())
    }


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - _MOST_BYTES))
        return file.read().decode("utf-8", "replace")
