"""The answers that a person may give, each with its key, on lines that end between two of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from .output import print_coloured

__all__ = ["print_choices"]

_INDENT = "  "
_UNKNOWN_WIDTH = 80


def print_choices(choices: Mapping[str, str]) -> None:
    """Print each key with what it means on stderr, as many on a line as the terminal is wide for."""
    print_coloured((line, None) for line in _lines(choices, _width()))


def _lines(choices: Mapping[str, str], width: int) -> list[str]:
    lines: list[str] = []
    for key, meaning in choices.items():
        choice = f"{_INDENT}[{key}] {meaning}"
        if lines and len(lines[-1]) + len(choice) < width:
            lines[-1] += choice
        else:
            lines.append(choice)
    return lines


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _UNKNOWN_WIDTH
    except (OSError, ValueError):  # no terminal, or no file
        return _UNKNOWN_WIDTH
