"""What was said and done in a trial, as far as the page has room for it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from ....providers.wire.json_types import is_list, is_object
from ...storage.trial import Trial
from .listed import ListedTrials
from .tags import Html, code, joined, tag

__all__ = ["MOST_CHARACTERS", "Transcripts"]

MOST_CHARACTERS = 4_000_000
"""So many characters of transcripts a page has at most, so that a browser opens it at once."""

_LINE = 90
_TOLD = frozenset({"scenario", "query", "tool_calls", "content", "turns", "expected", "tags", "duration_ms"})


class Transcripts:
    """The transcripts of the trials that are ``listed``, as many as ``most`` characters hold: of every
    scenario the first that was no success, then its other trials, round by round. ``left_out`` counts the
    rest, and what is not listed."""

    def __init__(self, listed: ListedTrials, most: int = MOST_CHARACTERS) -> None:
        self._shown: dict[int, Html] = {}
        self.left_out = listed.left_out
        used = 0
        for trial in _by_rounds(listed):
            if used < most:
                self._shown[id(trial)] = shown = _transcript(trial.details)
                used += len(shown)
            else:
                self.left_out += 1

    def of(self, trial: Trial) -> Html | None:
        """The transcript of ``trial``; ``None`` where it is left out."""
        return self._shown.get(id(trial))


def _by_rounds(listed: ListedTrials) -> Iterator[Trial]:
    scenarios = [of.by_need for record in listed for of in record.values()]
    for of_a_round in zip_longest(*scenarios):
        yield from (each[1] for each in of_a_round if each is not None)


def _transcript(details: Mapping[str, Any]) -> Html:
    turns: Any = details.get("turns")
    if is_list(turns) and turns:
        asked: Any = details.get("queries")
        questions = asked if is_list(asked) else [details.get("query")]
        parts = [
            part
            for n, turn in enumerate(turns)
            for part in _turn(questions[n] if n < len(questions) else None, turn if is_object(turn) else {})
        ]
    else:
        parts = list(_turn(details.get("query"), details))
    rest = {key: value for key, value in details.items() if key not in _TOLD | {"queries"}}
    if rest:
        parts.append(tag("details", tag("summary", "More: tokens, cost, notes"), code(_json(rest))))
    return joined(parts)


def _turn(query: object, answer: Mapping[str, Any]) -> Iterator[Html]:
    """A question, the calls that it led to, each with its arguments and its result, and the answer."""
    if query:
        yield tag("p", tag("strong", "Question"), " ", str(query))
    calls: Any = answer.get("tool_calls")
    for call in calls if is_list(calls) else []:
        yield from _call(call if is_object(call) else {"tool": str(call)})
    if content := answer.get("content"):
        yield tag("p", tag("strong", "Answer"))
        yield code(str(content))


def _call(call: Mapping[str, Any]) -> Iterator[Html]:
    iteration = call.get("iteration")
    when = f" in turn {iteration}" if isinstance(iteration, int) else ""
    how = ", written as text" if call.get("rescued") else ""
    yield tag("p", tag("strong", "Call"), " ", tag("code", str(call.get("tool"))), f"{when}{how}")
    yield code(_json(call.get("arguments")))
    yield tag("p", tag("strong", "Result"))
    yield code(_json(call.get("result")))


def _json(value: object) -> str:
    """``value`` on one line where it is short."""
    line = json.dumps(value, ensure_ascii=False, default=str)
    return line if len(line) <= _LINE else json.dumps(value, ensure_ascii=False, indent=1, default=str)
