"""The questions of a batch: a file of JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ...providers.wire.json_types import is_object

MAX_BYTES = 256_000_000
"""The most that any batch service takes."""


def read_questions(path: str) -> dict[str, str]:
    """Questions by id, of the file ``path`` or, for ``-``, of stdin: each line is ``{"id": "monday",
    "question": "Will it rain?"}``, both texts; empty lines are skipped.

    Raises ``UsageError`` naming the line that is none or whose id is there already, and for a file without
    any, that cannot be read, or of more than 256 MB.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        name, question = _question(line, f"line {number} of {_named(path)}")
        if name in found:
            raise UsageError(f"line {number} of {_named(path)}: the id {name!r} is there already")
        found[name] = question
    if not found:
        raise UsageError(f"{_named(path)} has no question: a batch needs one")
    return found


def _lines(path: str) -> Iterator[bytes]:
    try:
        source = sys.stdin.read(MAX_BYTES + 1).encode() if path == "-" else _content(Path(path))
    except OSError as fault:
        raise UsageError(f"the questions {path} cannot be read: {fault.strerror}") from None
    except UnicodeError:
        raise UsageError(f"the questions on {_named(path)} are no UTF-8") from None
    if len(source) > MAX_BYTES:
        raise UsageError(f"{_named(path)} has more than {MAX_BYTES:,} bytes: submit several batches")
    yield from source.split(b"\n")


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _question(line: bytes, place: str) -> tuple[str, str]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f"{place} is no JSON") from None
    given: Mapping[str, Any] = value if is_object(value) else {}
    name, question = given.get("id"), given.get("question")
    if given.keys() != {"id", "question"} or not isinstance(name, str) or not isinstance(question, str):
        raise UsageError(f'{place} must be {{"id": "…", "question": "…"}} with two texts')
    if not question.strip():
        raise UsageError(f"{place}: the question is empty")
    return name, question


def _named(path: str) -> str:
    return "stdin" if path == "-" else path
