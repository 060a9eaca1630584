"""Takes out of a streamed answer the secrets whose pieces are in several of its events.

A model says a word in pieces, each in an event of its own, so that no text of the whole has it. The pieces
that are at the same place of their events are put together and looked at as one.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

_EVENT = re.compile(r"(?P<before>(?:data:)?[ \t]*)(?P<json>\{.*\})(?P<after>\s*)", re.DOTALL)
_MASK = "***"

_Place = tuple[str | int, ...]


def without_split_secrets(text: str, redact: Callable[[str], str]) -> str:
    """``text``, lines of JSON or events with JSON, without what ``redact`` takes out of their pieces put
    together. Lines without such pieces stay as they are."""
    lines = text.splitlines(keepends=True)
    events = {number: event for number, line in enumerate(lines) if (event := _event(line)) is not None}
    if len(events) < 2:
        return text
    changed: set[int] = set()
    for pieces in _pieces(events).values():
        for number, place, piece in _masked(pieces, redact):
            _put(events[number], place, piece)
            changed.add(number)
    for number in changed:
        found = _EVENT.fullmatch(lines[number])
        assert found is not None, "it was one"
        lines[number] = found["before"] + json.dumps(events[number], ensure_ascii=False) + found["after"]
    return "".join(lines)


def _event(line: str) -> Any:
    found = _EVENT.fullmatch(line)
    try:
        return None if found is None else json.loads(found["json"])
    except (ValueError, RecursionError):
        return None


_Piece = tuple[int, _Place, str]
"""The number of the line, the place in its event, and the text there."""


def _pieces(events: dict[int, Any]) -> dict[tuple[str, _Place], list[_Piece]]:
    """The texts at each place of events of one type, in order."""
    found: defaultdict[tuple[str, _Place], list[_Piece]] = defaultdict(list)
    for number, event in events.items():
        kind = str(event.get("type", ""))
        for place, text in _texts(event, ()):
            found[kind, place].append((number, place, text))
    return found


def _texts(value: Any, place: _Place) -> Iterator[tuple[_Place, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, part in cast("dict[str, Any]", value).items():
            yield from _texts(part, (*place, name))
    elif isinstance(value, list):
        for number, part in enumerate(cast("Sequence[Any]", value)):
            yield from _texts(part, (*place, number))


def _masked(pieces: list[_Piece], redact: Callable[[str], str]) -> Iterator[_Piece]:
    """The pieces that change: from the first secret that only the whole shows to the last."""
    whole = "".join(text for _, _, text in pieces)
    clean = redact(whole)
    if len(pieces) < 2 or clean == whole or clean == "".join(redact(text) for _, _, text in pieces):
        return
    start = _same(whole, clean)
    rest = _same(whole[start:][::-1], clean[start:][::-1])
    end, at, shown = len(whole) - rest, 0, _MASK
    for number, place, text in pieces:
        first, last = max(start - at, 0), min(end - at, len(text))
        if first < last:
            yield number, place, text[:first] + shown + text[last:]
            shown = ""
        at += len(text)


def _same(one: str, other: str) -> int:
    """How many characters both begin with."""
    shorter = min(len(one), len(other))
    return next((number for number in range(shorter) if one[number] != other[number]), shorter)


def _put(value: Any, place: _Place, text: str) -> None:
    for step in place[:-1]:
        value = value[step]
    value[place[-1]] = text
