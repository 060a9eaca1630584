"""Files of recorded answers: JSON lines, read one by one, however many there are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, cast

from ...providers.wire.json_types import is_object
from .contract import RecordedAnswer, RecordedCall

MAX_LINE = 16_777_216
"""The longest line, in bytes: 16 MiB."""

_SHAPE = '{"id": "…", "calls": [{"name": "…", "arguments": {…}}], "answer": "…"}'


@dataclass(frozen=True, slots=True)
class LineFault:
    """A line that is no recorded answer: ``file:line: what is wrong``."""

    text: str


def read_answers(file: IO[bytes], name: str) -> Iterator[RecordedAnswer | LineFault]:
    """The answers in ``file``, which is called ``name`` in faults, one for each line that is not empty:

        {"id": "…", "calls": [{"name": "…", "arguments": {…}}], "answer": "…"}

    ``calls`` or ``answer`` may be left out; other keys are of no concern.
    """
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        place = f"{name}:{number}"
        if len(line) > MAX_LINE:
            _skip_line(file, line)
            yield LineFault(f"{place}: the line is longer than {MAX_LINE:,} bytes")
        elif line.strip():
            yield _answer(line, number, place)


def _skip_line(file: IO[bytes], line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = file.readline(MAX_LINE)


def _answer(line: bytes, number: int, place: str) -> RecordedAnswer | LineFault:
    try:
        data: object = json.loads(line)
    except (ValueError, RecursionError):
        return LineFault(f"{place}: no JSON (each line is {_SHAPE})")
    if not isinstance(data, dict):
        return LineFault(f"{place}: no JSON object (each line is {_SHAPE})")
    return _read(cast("dict[str, Any]", data), number, place)


def _read(data: Mapping[str, Any], number: int, place: str) -> RecordedAnswer | LineFault:
    name, calls, text = data.get("id"), data.get("calls"), data.get("answer")
    if not isinstance(name, str) or not name:
        return LineFault(f"{place}: 'id' must be a text (each line is {_SHAPE})")
    if "calls" not in data and "answer" not in data:
        return LineFault(f"{place}: neither 'calls' nor 'answer' is there (each line is {_SHAPE})")
    if text is not None and not isinstance(text, str):
        return LineFault(f"{place}: 'answer' must be a text")
    made: list[RecordedCall] = []
    for at, call in enumerate(_items(calls)):
        if not isinstance(call, dict) or not isinstance(cast("dict[str, Any]", call).get("name"), str):
            return LineFault(f"{place}: calls[{at}] must be an object with a 'name'")
        given = cast("dict[str, Any]", call)
        arguments = given.get("arguments", {})
        made.append(RecordedCall(given["name"], arguments if is_object(arguments) else None))
    if calls is not None and not isinstance(calls, list):
        return LineFault(f"{place}: 'calls' must be a list")
    return RecordedAnswer(name, tuple(made), text or "", number)


def _items(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
