"""A value for one parameter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ....providers.wire.json_types import is_list, is_object
from ..choices import Choices
from ..problems import NotGenerated
from ..schemas import fits, properties_of, required_of, simple
from .numbers import numbers
from .texts import texts

_MOST_DEEP = 2
"""How many objects and lists a value may hold one in the other, to be said in a sentence."""

_MOST_ITEMS = 5


@dataclass(frozen=True, slots=True)
class Parameter:
    """A part of a tool's arguments: its ``name``, its ``schema``, the ``root`` of that, what the tool is
    ``about``, the words that it is ``called``, and how ``deep`` it lies."""

    name: str
    schema: Any
    root: Mapping[str, Any]
    about: frozenset[str]
    called: Sequence[str] = ()
    deep: int = 0

    def within(self, name: str, schema: Any) -> Parameter:
        """A part of this one."""
        return replace(self, name=name, schema=schema, deep=self.deep + 1)


def value_for(parameter: Parameter, choices: Choices, but: Sequence[Any] = ()) -> Any:
    """A value that fits the parameter's schema and is none of ``but``.

    Raises ``NotGenerated`` where none is found, and for what no sentence would say.
    """
    rules = simple(parameter.schema, parameter.root)
    for value in _candidates(parameter, rules, choices):
        if value not in but and fits(value, parameter.schema, parameter.root):
            return value
    raise NotGenerated(f"no value is known that fits {parameter.name!r}")


def _candidates(parameter: Parameter, rules: Mapping[str, Any], choices: Choices) -> Iterator[Any]:
    if "const" in rules:
        yield rules["const"]
    yield from _given(rules, choices)
    kind = rules.get("type", "object" if "properties" in rules else "string")
    if kind == "string":
        yield from texts(parameter.name, rules, parameter.about, parameter.called, choices)
    elif kind in ("integer", "number"):
        yield from numbers(parameter.name, rules, choices)
    elif kind == "boolean":
        yield from choices.shuffled((True, False))
    elif kind == "array":
        yield from _lists(parameter, rules, choices)
    elif kind == "object":
        yield _object(parameter, rules, choices)
    yield from (rules[key] for key in ("default",) if rules.get(key) is not None)


def _given(rules: Mapping[str, Any], choices: Choices) -> Iterable[Any]:
    """The values that the schema itself lists; the default is the last of them, for it may be left out."""
    for key in ("enum", "examples"):
        if is_list(values := rules.get(key)):
            said = [each for each in values if each not in (None, "")]
            yield from sorted(choices.shuffled(said), key=lambda each: each == rules.get("default"))


def _lists(parameter: Parameter, rules: Mapping[str, Any], choices: Choices) -> Iterator[Any]:
    if parameter.deep >= _MOST_DEEP:
        raise NotGenerated(f"{parameter.name!r} lies too deep to be said in a sentence")
    least = rules.get("minItems")
    number = max(int(least) if isinstance(least, int | float) else 0, 2)
    if number > _MOST_ITEMS:
        raise NotGenerated(f"{parameter.name!r} needs {number} items, which no sentence would list")
    items: list[Any] = []
    inner = parameter.within(parameter.name, rules.get("items", {}))
    for place in range(number):
        try:
            items.append(value_for(inner, choices.of("item", place), items))
        except NotGenerated:
            if not items:
                raise
            break
    yield from (items, items[:1])


def _object(parameter: Parameter, rules: Mapping[str, Any], choices: Choices) -> dict[str, Any]:
    named = properties_of(rules)
    required = required_of(rules) or sorted(named)[:1]
    if parameter.deep >= _MOST_DEEP:
        raise NotGenerated(f"{parameter.name!r} lies too deep to be said in a sentence")
    if not required:
        raise NotGenerated(f"{parameter.name!r} is an object of which the schema says nothing")
    value: dict[str, Any] = {}
    for key in required:
        part, used = parameter.within(key, named.get(key, {})), list(value.values())
        try:
            value[key] = value_for(part, choices.of(key), used)
        except NotGenerated:
            value[key] = value_for(part, choices.of(key))
    if any(is_object(each) for each in value.values()):
        raise NotGenerated(f"{parameter.name!r} lies too deep to be said in a sentence")
    return value
