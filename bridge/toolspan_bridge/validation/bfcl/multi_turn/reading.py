"""Lines of ``multi_turn_*`` files, and of the accepted answers beside them, as conversations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ....errors import UsageError
from ....providers.wire.json_types import is_list, is_object
from .conversations import ConversationCase
from .plain_calls import is_plain_call
from .programs import Installed

__all__ = ["CONVERSATIONS", "conversation_of"]

CONVERSATIONS = (
    "multi_turn_base",
    "multi_turn_miss_func",
    "multi_turn_miss_param",
    "multi_turn_long_context",
)
"""The categories that are scored by the state of the leaderboard's programs."""

_NUMBER = re.compile(r"[0-9]{1,9}")
_MOST_TURNS = 64


def conversation_of(
    place: str, data: Mapping[str, Any], truths: Mapping[str, Any] | None, installed: Installed
) -> ConversationCase:
    """The conversation in ``data``, which stands at ``place``; ``truths`` are the accepted calls by id.

    Raises ``UsageError`` for what is none. Accepted calls have to be calls of the functions with plain
    values: the leaderboard's checker evaluates their text.
    """
    name, classes = str(data.get("id", "")), data.get("involved_classes")
    category, _, number = name.rpartition("_")
    if category not in CONVERSATIONS or not _NUMBER.fullmatch(number):
        raise UsageError(f"{place}: 'id' must be like multi_turn_base_0")
    if not is_list(classes) or any(each not in installed.functions for each in classes):
        known = ", ".join(installed.functions)
        raise UsageError(f"{place}: 'involved_classes' must be a list of some of {known}")
    functions = [function for each in classes for function in installed.functions[str(each)]]
    names = frozenset(str(function["name"]) for function in functions)
    added = _added(place, data.get("missed_function", {}), names)
    setup = data.get("initial_config", {})
    if not is_object(setup):
        raise UsageError(f"{place}: 'initial_config' must be an object")
    queries = tuple(_query(place, turn, installed.added) for turn in _turns(place, data.get("question")))
    accepted = _accepted(place, None if truths is None else truths.get(name), len(queries), names)
    return ConversationCase(
        name,
        category,
        queries,
        tuple(map(str, classes)),
        setup,
        tuple(functions),
        added,
        accepted,
        installed.steps,
        installed.version,
    )


def _turns(place: str, question: object) -> list[Any]:
    if not is_list(question) or not 0 < len(question) <= _MOST_TURNS or not all(map(is_list, question)):
        raise UsageError(f"{place}: 'question' must be a list of turns, which are lists of messages")
    return question


def _query(place: str, turn: Sequence[Any], added: str) -> str:
    """What the user says; where a turn has no message, that there are further functions."""
    if not turn:
        return added
    (message,) = turn if len(turn) == 1 else (None,)
    if not is_object(message) or message.get("role") != "user" or not isinstance(message.get("content"), str):
        raise UsageError(f"{place}: a turn of 'question' must be one message of the user, or none")
    return message["content"] or "(no words)"


def _added(place: str, missed: object, names: frozenset[str]) -> dict[str, tuple[str, ...]]:
    if not is_object(missed):
        raise UsageError(f"{place}: 'missed_function' must be an object")
    for turn, each in missed.items():
        if not _NUMBER.fullmatch(turn) or not is_list(each) or any(name not in names for name in each):
            raise UsageError(f"{place}: 'missed_function' must have names of functions by turn")
    return {turn: tuple(each) for turn, each in missed.items()}


def _accepted(place: str, truth: object, turns: int, names: frozenset[str]) -> tuple[tuple[str, ...], ...]:
    if not is_list(truth) or len(truth) != turns or not all(map(is_list, truth)):
        raise UsageError(f"{place}: the accepted answer must have a list of calls for each of {turns} turns")
    for turn in truth:
        for call in turn:
            if not isinstance(call, str) or not is_plain_call(call, names):
                raise UsageError(
                    f"{place}: the accepted {call!r:.200} is no call of a function with plain values"
                )
    return tuple(tuple(turn) for turn in truth)
