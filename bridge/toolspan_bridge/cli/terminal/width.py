"""How wide a terminal is, and what fits."""

from __future__ import annotations

import os
import re
from typing import IO

__all__ = ["broken_between_words", "columns_of"]

_OTHERWISE = 80
_NARROWEST = 20
_COMMAND = re.compile(r"`[^`\n]+`")
_HELD = "\0"


def columns_of(file: IO[str]) -> int:
    """The columns of the terminal ``file`` now; elsewhere those of ``$COLUMNS``, or 80."""
    try:
        columns = os.get_terminal_size(file.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    given = os.environ.get("COLUMNS", "")
    return columns or (int(given) if given.isdigit() else 0) or _OTHERWISE


def broken_between_words(text: str, columns: int) -> str:
    """``text`` in lines of fewer than ``columns``, further ones indented; a longer word, and a command in
    backquotes, which is there to be copied, stays in one piece."""
    import textwrap

    width = max(_NARROWEST, columns - 1)
    held = _COMMAND.sub(lambda command: command[0].replace(" ", _HELD), text)
    lines = [
        part
        for line in held.splitlines()
        for part in textwrap.wrap(
            line,
            width,
            subsequent_indent="    ",
            expand_tabs=False,
            replace_whitespace=False,
            break_long_words=False,
            break_on_hyphens=False,
        )
        or [""]
    ]
    return "\n".join(lines).replace(_HELD, " ")
