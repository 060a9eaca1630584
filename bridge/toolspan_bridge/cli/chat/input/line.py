"""The input line: what a person types at the prompt of a chat."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from prompt_toolkit.completion import Completer
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import is_dumb_terminal

from ....files.user_state import user_state_directory
from ...terminal.output import print_note
from ...terminal.questions.prompt_session import asked, prompt_session
from ...terminal.waiting.status_line import occupied
from ...terminal.width import columns_of
from ..status import fitting
from .history import FILE, LineHistory
from .keys import keys_of
from .pastes import Pastes

__all__ = ["InputLine"]

_STYLE = Style.from_dict({"bottom-toolbar": "noreverse dim"})


class InputLine:
    """Reads lines at the terminal, with what ``completer`` proposes and the lines of earlier chats; ``keeps``
    them for later ones."""

    def __init__(self, completer: Completer, *, keeps: bool) -> None:
        self._pastes = Pastes()
        history = LineHistory(_history_file() if keeps else None, self._pastes, print_note)
        self._session = prompt_session(
            history=history,
            completer=completer,
            complete_while_typing=False,
            key_bindings=keys_of(self._pastes),
            multiline=True,
            prompt_continuation=_continuation,
            search_ignore_case=True,
            tempfile_suffix=".md",
            style=_STYLE,
        )

    async def read(self, prompt: str, draft: str = "", status: Sequence[str] = ()) -> str:
        """The next line, which begins as ``draft`` and may be several; long pastes are whole in it. What of
        ``status`` has room stands below it.

        Raises ``EOFError`` for Ctrl+D, and ``KeyboardInterrupt`` for Ctrl+C where nothing is typed.
        """
        below = partial(_below, status) if status and not is_dumb_terminal() else None
        with occupied():
            line = await asked(self._session, prompt, draft, bottom_toolbar=below)
        return self._pastes.expanded(line)


def _below(status: Sequence[str]) -> str:
    return fitting(status, columns_of(sys.stderr) - 1)


def _continuation(width: int, line: int, wraps: int) -> str:
    """What stands before a further line; nothing before what is only wrapped."""
    del width, line
    return "" if wraps else ".. "


def _history_file() -> Path | None:
    try:
        return user_state_directory() / FILE
    except OSError as fault:
        print_note(f"the lines of the chat are not kept: the user's state folder cannot be made: {fault}")
        return None
