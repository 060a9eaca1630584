"""How large a terminal is."""

from __future__ import annotations

import os
from typing import IO

__all__ = ["columns_of", "rows_of"]

_OTHERWISE = 80
_ROWS_OTHERWISE = 40


def columns_of(file: IO[str]) -> int:
    """The columns of the terminal ``file`` now; elsewhere those of ``$COLUMNS``, or 80."""
    try:
        columns = os.get_terminal_size(file.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    given = os.environ.get("COLUMNS", "")
    return columns or (int(given) if given.isdigit() else 0) or _OTHERWISE


def rows_of(file: IO[str]) -> int:
    """The rows of the terminal ``file`` now; elsewhere 40."""
    try:
        return os.get_terminal_size(file.fileno()).lines or _ROWS_OTHERWISE
    except (OSError, ValueError):
        return _ROWS_OTHERWISE
