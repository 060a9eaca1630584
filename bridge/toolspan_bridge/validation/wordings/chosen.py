"""What validation has chosen for models, read from the store beside a config; it need not be writable."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from toolspan_server.common.state.private_files import stat_private

from ...errors import StoreError
from ...formats.prompt.renderings import RENDERINGS
from ...formats.prompt.wordings import DEFAULT, WORDINGS
from ...providers.resolve import Mode
from ..storage.places import Place, place_of
from ..storage.reading import has_table, read_only
from .choice import WordingChoice

__all__ = ["ChosenWordings", "read_choices"]


def read_choices(place: Path | str) -> dict[str, WordingChoice]:
    """The choices in the store at ``place`` (see ``Store.open``) by ``provider/model``; none where there is
    no store.

    Raises ``StoreError`` when it cannot be read. A choice of a wording or a rendering that this version has
    not is left out.
    """
    there = place_of(place)
    try:
        if there.path is None:
            texts = _of_server(there)
        else:
            texts = read_only(there.path, _texts) if stat_private(there.path) is not None else []
        found = [WordingChoice.from_json(text) for text in texts]
    except (OSError, sqlite3.Error, ValueError, TypeError) as error:
        raise StoreError(f"the validation store {there.shown} cannot be read: {error}") from None
    return {
        choice.model_id: choice
        for choice in found
        if choice.wording in WORDINGS and choice.rendering in RENDERINGS
    }


def _of_server(place: Place) -> list[str]:
    from ..storage.database import existing

    database = existing(place)
    if database is None:
        return []
    try:
        return database.choices()
    finally:
        database.close()


def _texts(connection: sqlite3.Connection) -> list[str]:
    if not has_table(connection, "wordings"):
        return []  # of an earlier version
    return [row[0] for row in connection.execute("SELECT choice FROM wordings ORDER BY model_id")]


class ChosenWordings:
    """Looks up a model's wording and its rendering in the store at ``place``, which is read when a model is
    first looked up.

    A store that cannot be read means the default; ``on_note`` is told so, once.
    """

    def __init__(self, place: Path | str, on_note: Callable[[str], None] = lambda text: None) -> None:
        self._place = place
        self._on_note = on_note
        self._choices: dict[str, WordingChoice] | None = None

    def __call__(self, model: str, mode: Mode = "prompt") -> str:
        """The name of the wording, or in the mode ``native`` of the rendering, that is chosen for ``model``
        (``provider/model``); empty for none."""
        if self._choices is None:
            try:
                self._choices = read_choices(self._place)
            except StoreError as error:
                self._choices = {}
                self._on_note(f"{error}; the prompt has its usual wording, {DEFAULT}")
        choice = self._choices.get(model)
        if choice is None:
            return ""
        return choice.wording if mode == "prompt" else choice.rendering
