"""Files of recorded answers: JSON lines, read one by one, however many there are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, cast

from ...providers.wire.json_types import is_list, is_object
from .contract import RecordedAnswer, RecordedCall, RecordedTurn

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

    ``calls`` or ``answer`` may be left out; other keys are of no concern. Of a conversation the line has
    ``turns`` in their place, each with its own:

        {"id": "…", "turns": [{"calls": […], "answer": "…"}]}
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
    name = data.get("id")
    if not isinstance(name, str) or not name:
        return LineFault(f"{place}: 'id' must be a text (each line is {_SHAPE})")
    try:
        if "turns" in data:
            return RecordedAnswer(name, (), "", number, _turns(data))
        turn = _turn(data, "")
    except _NoAnswer as fault:
        return LineFault(f"{place}: {fault}")
    return RecordedAnswer(name, turn.calls, turn.text, number)


class _NoAnswer(Exception):
    """What keeps a line from being an answer."""


def _turns(data: Mapping[str, Any]) -> tuple[RecordedTurn, ...]:
    turns: object = data["turns"]
    if "calls" in data or "answer" in data:
        raise _NoAnswer("'calls' and 'answer' stand in the turns, not beside them")
    if not is_list(turns) or not turns:
        raise _NoAnswer("'turns' must be a list with an object for each turn")
    read: list[RecordedTurn] = []
    for at, turn in enumerate(turns):
        if not is_object(turn):
            raise _NoAnswer(f"turns[{at}] must be an object with 'calls' or 'answer'")
        read.append(_turn(turn, f"turns[{at}]."))
    return tuple(read)


def _turn(data: Mapping[str, Any], above: str) -> RecordedTurn:
    """The calls and words in ``data``, which stands at ``above``. Raises ``_NoAnswer``."""
    calls, text = data.get("calls"), data.get("answer")
    if "calls" not in data and "answer" not in data:
        where = above.removesuffix(".")
        hint = f" in {where}" if where else f" (each line is {_SHAPE})"
        raise _NoAnswer(f"neither 'calls' nor 'answer' is there{hint}")
    if text is not None and not isinstance(text, str):
        raise _NoAnswer(f"'{above}answer' must be a text")
    if calls is not None and not is_list(calls):
        raise _NoAnswer(f"'{above}calls' must be a list")
    made: list[RecordedCall] = []
    for at, call in enumerate(calls or ()):
        if not is_object(call) or not isinstance(call.get("name"), str):
            raise _NoAnswer(f"{above}calls[{at}] must be an object with a 'name'")
        arguments = call.get("arguments", {})
        made.append(RecordedCall(call["name"], arguments if is_object(arguments) else None))
    return RecordedTurn(tuple(made), text or "")
