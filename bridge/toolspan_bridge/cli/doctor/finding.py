"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """``text`` says what is so, ``todo`` what to do about it; ``exit_code`` is what a problem ends with."""

    level: Level
    text: str
    todo: str = ""
    exit_code: int = 1

    def as_dict(self) -> dict[str, str]:
        """The finding as plain data."""
        return {"level": self.level, "text": self.text, "todo": self.todo}


def ok(text: str) -> Finding:
    """All is well."""
    return Finding("ok", text)


def warning(text: str, todo: str) -> Finding:
    """Something is missing that is not always needed."""
    return Finding("warning", text, todo)


def problem(text: str, todo: str, exit_code: int = 1) -> Finding:
    """Something does not work."""
    return Finding("problem", text, todo, exit_code)
