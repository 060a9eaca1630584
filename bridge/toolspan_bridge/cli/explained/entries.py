"""The entries of the page of errors, which ``make reference`` also writes as data into this package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

FILE = Path(__file__).with_name("errors.json")


@dataclass(frozen=True, slots=True)
class Entry:
    """A ``code`` that errors have: ``why`` they come and what to do, and their ``texts``, in which ``…``
    stands for what differs, each with its advice or ``""``. Those ``of`` commands have an exit code."""

    code: str
    of: Literal["command", "tool"]
    why: str
    texts: Mapping[str, str]
    exit_code: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """``{"code", "of", "why", "exit_code", "messages": [{"message", "advice"}]}``."""
        said = [{"message": text, "advice": advice} for text, advice in self.texts.items()]
        known = {"code": self.code, "of": self.of, "why": self.why, "exit_code": self.exit_code}
        return {**known, "messages": said}


def entries() -> tuple[Entry, ...]:
    """Every entry, in the order of the page: those of commands, then those of tools."""
    return tuple(Entry(**each) for each in json.loads(FILE.read_text("utf-8")))
