"""The wordings that validation has chosen, read from the store beside a config; it need not be writable."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from ...errors import StoreError
from ...formats.prompt.wordings import DEFAULT, WORDINGS
from ..storage.reading import has_table, read_only
from .choice import WordingChoice

__all__ = ["ChosenWordings", "read_choices"]


def read_choices(path: Path) -> dict[str, WordingChoice]:
    """The choices in the store at ``path`` by ``provider/model``; none where there is no store.

    Raises ``StoreError`` when it cannot be read. A choice of a wording that this version has not is left out.
    """
    try:
        if not path.exists():
            return {}
        found = [WordingChoice.from_json(text) for text in read_only(path, _texts)]
    except (OSError, sqlite3.Error, ValueError, TypeError) as error:
        raise StoreError(f"the validation store {path} cannot be read: {error}") from None
    return {choice.model_id: choice for choice in found if choice.wording in WORDINGS}


def _texts(connection: sqlite3.Connection) -> list[str]:
    if not has_table(connection, "wordings"):
        return []  # of an earlier version
    return [row[0] for row in connection.execute("SELECT choice FROM wordings ORDER BY model_id")]


class ChosenWordings:
    """Looks up a model's wording in the store at ``path``, which is read when a model is first looked up.

    A store that cannot be read means the default; ``on_note`` is told so, once.
    """

    def __init__(self, path: Path, on_note: Callable[[str], None] = lambda text: None) -> None:
        self._path = path
        self._on_note = on_note
        self._choices: dict[str, WordingChoice] | None = None

    def __call__(self, model: str) -> str:
        """The name of the wording that is chosen for ``model`` (``provider/model``); empty for none."""
        if self._choices is None:
            try:
                self._choices = read_choices(self._path)
            except StoreError as error:
                self._choices = {}
                self._on_note(f"{error}; the prompt has its usual wording, {DEFAULT}")
        choice = self._choices.get(model)
        return choice.wording if choice else ""
