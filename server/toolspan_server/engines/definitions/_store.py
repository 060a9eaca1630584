"""What is known of a server's tools, on disk."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from ...common.state.folder import private_folder
from ...common.state.private_files import read_private, rename_private, write_private
from ._changes import Change, compared
from ._fingerprints import Fingerprint

FOLDER = "definitions"

MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_GONE = 1_000
"""Tools that are not listed any more and still known."""

MAX_CHANGES = 100
"""Changes that are kept, the newest."""

_VERSION = 1


@dataclass
class Definitions:
    """What a server's tools were when they were listed last; ``tools`` is ``None`` before the first time.

    ``gone`` are tools that were there once. ``changes`` are those that were noticed, the newest last, each
    with ``at``, the time.
    """

    tools: dict[str, Fingerprint] | None = None
    gone: dict[str, Fingerprint] = field(default_factory=dict[str, Fingerprint])
    changes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def listed(self, now: Mapping[str, Fingerprint], *, whole: bool) -> list[Change]:
        """Take ``now`` for what the tools are; what changed. Nothing has the first time."""
        if self.tools is None:
            self.tools = dict(now)
            return []
        changes = compared(self.tools, now, self.gone, whole=whole)
        left = {name: known for name, known in self.tools.items() if name not in now}
        self.tools = dict(now) if whole else {**left, **now}
        self.gone = {name: known for name, known in self.gone.items() if name not in now}
        if whole:
            self.gone |= left
        for name in list(self.gone)[: max(0, len(self.gone) - MAX_GONE)]:
            del self.gone[name]
        at = datetime.now(UTC).isoformat(timespec="seconds")
        self.changes += [{**change.as_dict(), "at": at} for change in changes[-MAX_CHANGES:]]
        del self.changes[:-MAX_CHANGES]
        return changes


class DefinitionsFile:
    """The definitions of the server ``name``, in a file of the state folder."""

    def __init__(self, state_folder: Path, name: str) -> None:
        self._folder = state_folder / FOLDER
        self.path = self._folder / f"{name}.json"

    def read(self) -> Definitions:
        """What was kept; nothing when there is no file.

        Raises ``OSError`` when it cannot be read, ``ValueError`` when it is no such file.
        """
        try:
            content = read_private(self.path, MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            return Definitions()
        if len(content) > MAX_FILE_BYTES:
            raise ValueError(f"it is longer than {MAX_FILE_BYTES} bytes")
        return _parsed(content)

    def set_aside(self) -> Path:
        """Rename the file, which cannot be used; its name now. Raises ``OSError``."""
        aside = self.path.with_suffix(".unusable")
        rename_private(self.path, aside)
        return aside

    def write(self, definitions: Definitions) -> None:
        """Keep ``definitions``: the file has them whole, or is as it was. Raises ``OSError``."""
        private_folder(self._folder)
        write_private(self.path, _written(definitions))


def _written(definitions: Definitions) -> bytes:
    def plain(tools: Mapping[str, Fingerprint]) -> dict[str, Any]:
        return {name: {"sha256": each.digest, "keys": dict(each.keys)} for name, each in tools.items()}

    data = {
        "version": _VERSION,
        "tools": plain(definitions.tools or {}),
        "gone": plain(definitions.gone),
        "changes": definitions.changes,
    }
    return json.dumps(data, indent=1).encode()


def _parsed(content: bytes) -> Definitions:
    try:
        data = json.loads(content)
        if data["version"] != _VERSION:
            raise ValueError(f"its version is {data['version']!r}, not {_VERSION}")
        changes = [dict(each) for each in cast("Sequence[Mapping[str, Any]]", data["changes"])]
        return Definitions(_tools(data["tools"]), _tools(data["gone"]), changes[-MAX_CHANGES:])
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is no file of definitions: {type(error).__name__}") from None


def _tools(data: Mapping[str, Any]) -> dict[str, Fingerprint]:
    return {name: Fingerprint(str(each["sha256"]), dict(each["keys"])) for name, each in data.items()}
