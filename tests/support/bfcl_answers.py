"""Answers to the leaderboard's cases: right ones, made of what is accepted, and ones with something wrong."""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

Call = dict[str, dict[str, Any]]


def right_calls(truth: Sequence[Mapping[str, Any]], random: Random, *, as_text: bool) -> list[Call]:
    """The calls that ``truth`` accepts, with values of its choice; ``as_text`` for Java and JavaScript."""
    return [
        {name: _arguments(accepted, random, as_text=as_text)}
        for call in truth
        for name, accepted in call.items()
    ]


def _arguments(accepted: Mapping[str, Any], random: Random, *, as_text: bool) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, values in accepted.items():
        if "" in values and random.random() < 0.5:
            continue
        value = _value([each for each in values if each != ""] or values, random)
        made[name] = json.dumps(value) if as_text and not isinstance(value, str) else value
    return made


def _value(values: Sequence[Any], random: Random) -> Any:
    chosen = random.choice(values) if values else ""
    if isinstance(chosen, dict):
        return _object(chosen, random)
    if isinstance(chosen, list):
        return [_object(each, random) if isinstance(each, dict) else each for each in chosen]
    return chosen


def _object(accepted: Mapping[str, Any], random: Random) -> dict[str, Any]:
    return {
        name: _value(values, random) if isinstance(values, list) else values
        for name, values in accepted.items()
        if not (isinstance(values, list) and "" in values and random.random() < 0.5)
    }


def changed_calls(calls: Sequence[Call], names: Sequence[str], random: Random) -> list[Call]:
    """``calls`` with one thing or two that are otherwise, some of which are right all the same."""
    made = copy.deepcopy(list(calls))
    for _ in range(random.choice([1, 1, 2])):
        if made:
            random.choices(_CHANGES, _WEIGHTS)[0](made, names, random)
    return made


def _another_value(calls: list[Call], names: Sequence[str], random: Random) -> None:
    for arguments in random.choice(calls).values():
        if arguments:
            name = random.choice(list(arguments))
            arguments[name] = changed_value(arguments[name], random)


def _one_argument_less(calls: list[Call], names: Sequence[str], random: Random) -> None:
    for arguments in random.choice(calls).values():
        if arguments:
            del arguments[random.choice(list(arguments))]


def _one_argument_more(calls: list[Call], names: Sequence[str], random: Random) -> None:
    for arguments in random.choice(calls).values():
        arguments["another"] = random.choice([1, "x", []])


def _another_function(calls: list[Call], names: Sequence[str], random: Random) -> None:
    index = random.randrange(len(calls))
    calls[index] = {random.choice(names): arguments for arguments in calls[index].values()}


def _another_order(calls: list[Call], names: Sequence[str], random: Random) -> None:
    random.shuffle(calls)


def _one_call_more(calls: list[Call], names: Sequence[str], random: Random) -> None:
    calls.append(copy.deepcopy(random.choice(calls)))


def _one_call_less(calls: list[Call], names: Sequence[str], random: Random) -> None:
    del calls[random.randrange(len(calls))]


_CHANGES: Sequence[Callable[[list[Call], Sequence[str], Random], None]] = (
    _another_value,
    _one_argument_less,
    _one_argument_more,
    _another_function,
    _another_order,
    _one_call_more,
    _one_call_less,
)
_WEIGHTS = (10, 2, 1, 1, 1, 1, 1)


def changed_value(value: Any, random: Random) -> Any:
    """A value that is near to ``value``, or of another type."""
    if isinstance(value, bool):
        return random.choice([not value, int(value), str(value)])
    if isinstance(value, int | float):
        return random.choice([value + 1, float(value), int(value), str(value), -value, [value], None])
    if isinstance(value, str):
        near = (value.upper(), value.replace(" ", ""), value.replace("'", '"'), value.replace(",", "-"))
        return random.choice([*near, value + ".", value + "x", "", [value], 5, None])
    if isinstance(value, list):
        return _changed_list(value, random)
    if isinstance(value, dict) and value:
        name = random.choice(list(value))
        left = {each: of for each, of in value.items() if each != name}
        return random.choice([left, {**value, "zz": 1}, {**value, name: changed_value(value[name], random)}])
    return "x"


def _changed_list(values: list[Any], random: Random) -> Any:
    if not values:
        return random.choice([[""], ["x"], None, ""])
    index = random.randrange(len(values))
    before, after = values[:index], values[index + 1 :]
    other = [*before, changed_value(values[index], random), *after]
    return random.choice([other, [*before, *after], values[::-1], [*values, values[index]]])


def calls_of_turn(texts: Sequence[str]) -> list[Call] | None:
    """The calls of an accepted turn, ``["cd(folder='a')"]``; ``None`` where an argument has no name."""
    made: list[Call] = []
    for text in texts:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or call.args or not isinstance(call.func, ast.Name):
            return None
        named = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
        made.append({call.func.id: named})
    return made


def text_of(call: Call) -> str:
    """The call as the leaderboard evaluates it."""
    ((name, arguments),) = call.items()
    return f"{name}({','.join(f'{key}={value!r}' for key, value in arguments.items())})"
