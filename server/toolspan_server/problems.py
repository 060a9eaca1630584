"""What is wrong with a config, and where."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from typing_extensions import override

Path = tuple[str | int, ...]
"""Where a value stands in the data: ``("tools", "registry", 2)``."""

_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*\Z")
_SHOWN_KEY = 60


def json_path(path: Path) -> str:
    """``path`` as people read it: ``$.tools.registry[2].parameters``, ``$.env["A B"]``."""
    return "$" + "".join(_step(part) for part in path)


def _step(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    if _PLAIN_KEY.match(part) and len(part) <= _SHOWN_KEY:
        return f".{part}"
    return f"[{json.dumps(cut(part, _SHOWN_KEY), ensure_ascii=False)}]"


def cut(text: str, limit: int) -> str:
    """``text``, or its first ``limit`` characters and an ellipsis."""
    return text if len(text) <= limit else text[:limit] + "…"


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the value (or, with ``on_key``, the key) at ``path``; ``hint`` says what to do.

    ``offset`` is where in the text, when the path alone is not enough.
    """

    path: Path
    message: str
    hint: str = ""
    on_key: bool = False
    offset: int | None = None


class Faulty(ValueError):
    """A value is wrong in one or more places; the paths of ``faults`` start at the value."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__("; ".join(_sentence(json_path(f.path), f.message, f.hint) for f in faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a config file. Lines and columns count from 1; 0 when the file as a whole is meant.

    ``str(problem)`` is ``file:line:column: $.path: what is wrong (what to do)``.
    """

    file: str
    line: int
    column: int
    path: str
    message: str
    hint: str = ""

    @override
    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {_sentence(self.path, self.message, self.hint)}"


def _sentence(path: str, message: str, hint: str) -> str:
    start = f"{path}: " if path else ""
    return start + message + (f" ({hint})" if hint else "")
