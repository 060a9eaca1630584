"""Answers of a script that are found by the question, however many conversations go on at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....errors import ProviderError, UsageError
from ....messages import Assistant, Request, User
from ...wire.json_types import is_list
from ._turns import RecordedTurn, check_keys, mapping, read_turns

__all__ = ["ByQuestion"]

_ANSWER = {"to", "turns", "times"}


@dataclass(frozen=True, slots=True)
class _Answer:
    """To questions that hold ``to``: the turns of the first time that one is asked, of the second …"""

    to: str
    times: tuple[tuple[RecordedTurn, ...], ...]


class ByQuestion:
    """Picks the turn that follows in a request's conversation. A script knows a conversation by its id, and
    how often an answer was begun: after the last of its ``times`` comes the first again.

    Raises ``UsageError`` at once when an answer is not as the package says.
    """

    def __init__(self, answers: object, source: str) -> None:
        if not is_list(answers) or not answers:
            raise UsageError(f"{source}: $.answers: must be a list with an answer or more")
        self._source = source
        self._answers = [_read(each, f"{source}: $.answers[{n}]") for n, each in enumerate(answers)]
        self._begun = [0] * len(self._answers)
        self._taken: dict[tuple[str, int], int] = {}

    def next(self, request: Request) -> RecordedTurn:
        """The turn that answers ``request``. Raises ``ProviderError`` where the script has none for its
        question, or no more."""
        question, number, place = _asked(request)
        chosen = next((n for n, each in enumerate(self._answers) if each.to in question.casefold()), None)
        if chosen is None:
            raise ProviderError(
                f"{self._source} has no answer to {question[:80]!r}: add one under `answers:`"
            )
        answer, conversation = self._answers[chosen], (request.conversation, number)
        if place == 0:
            self._taken[conversation] = self._begun[chosen] % len(answer.times)
            self._begun[chosen] += 1
        turns = answer.times[self._taken.get(conversation, 0)]
        if place >= len(turns):
            raise ProviderError(
                f"{self._source}: the answer to {question[:80]!r} ends after turn {len(turns)} and was asked "
                "for one more: add it"
            )
        return turns[place]


def _asked(request: Request) -> tuple[str, int, int]:
    """The last question, which one it is in its conversation, and how many turns have followed it."""
    text, number, place = "", 0, 0
    for message in request.messages:
        if isinstance(message, User):
            text, number, place = message.text, number + 1, 0
        elif isinstance(message, Assistant):
            place += 1
    return text, number, place


def _read(answer: Any, where: str) -> _Answer:
    found = mapping(answer, where)
    check_keys(found, _ANSWER, where)
    to = found.get("to", "")
    if not isinstance(to, str):
        raise UsageError(f"{where}.to: must be a text that the question holds")
    if ("turns" in found) == ("times" in found):
        raise UsageError(f"{where}: write `turns`, or `times`: a list of such lists, one for each time")
    return _Answer(to.casefold(), _times(found, where))


def _times(answer: Mapping[str, Any], where: str) -> tuple[tuple[RecordedTurn, ...], ...]:
    if "turns" in answer:
        return (read_turns(answer["turns"], f"{where}.turns"),)
    times: Sequence[Any] = answer["times"]
    if not is_list(times) or not times:
        raise UsageError(f"{where}.times: must be a list with the turns of each time")
    return tuple(read_turns(turns, f"{where}.times[{n}]") for n, turns in enumerate(times))
