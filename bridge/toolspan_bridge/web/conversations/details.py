"""What was chosen for a conversation beside its messages, in a file beside its log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, cast

from toolspan_server.common.state.folder import private_folder
from toolspan_server.common.state.private_files import (
    list_private,
    read_private,
    remove_private,
    write_private,
)

from ...conversation.settings import Settings
from ...errors import StoreError

_SUFFIX = ".details.json"
_MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Details:
    """``title`` is the person's own, empty for the first question. ``model`` and ``preset`` answer its
    questions, ``system`` is its system prompt, each empty where the config decides. ``tools`` are globs of
    those that are on; ``None``: all are. ``created`` is UTC in ISO 8601. ``begun``: something was asked."""

    title: str = ""
    model: str = ""
    preset: str = ""
    system: str = ""
    tools: tuple[str, ...] | None = None
    created: str = ""
    begun: bool = False

    def settings(self) -> Settings:
        """As settings of the conversation itself."""
        rules = () if self.tools is None else ("off *", *(f"on {glob}" for glob in self.tools))
        return Settings(self.system, rules)


def read_details(folder: Path, conversation_id: str) -> Details | None:
    """The details of the conversation; ``None`` where there are none that can be read."""
    try:
        data: Any = json.loads(read_private(_path(folder, conversation_id), _MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    given = cast("dict[str, Any]", data)
    known = {each.name: given[each.name] for each in fields(Details) if each.name in given}
    if (tools := known.get("tools")) is not None:
        known["tools"] = tuple(cast("list[str]", tools))
    return Details(**known)


def write_details(folder: Path, conversation_id: str, details: Details) -> None:
    """Keep ``details``, whole or not at all. Raises ``StoreError``."""
    try:
        private_folder(folder)
        write_private(_path(folder, conversation_id), json.dumps(asdict(details)).encode())
    except OSError as fault:
        raise StoreError(f"the conversation cannot be kept in {folder}: {fault.strerror}") from None


def remove_details(folder: Path, conversation_id: str) -> None:
    """Remove them, if there are any."""
    remove_private(_path(folder, conversation_id))


def with_details(folder: Path) -> Iterator[str]:
    """The ids of the conversations that have details."""
    for path, _ in list_private(folder):
        if path.name.endswith(_SUFFIX):
            yield path.name.removesuffix(_SUFFIX)


def _path(folder: Path, conversation_id: str) -> Path:
    return folder / f"{conversation_id}{_SUFFIX}"
