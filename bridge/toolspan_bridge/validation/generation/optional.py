"""Optional arguments that a query says."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ...providers.wire.json_types import is_list
from .choices import Choices
from .english import base_verb, words_of
from .problems import NotGenerated
from .schemas import properties_of, simple
from .subjects import Subject
from .values import value_for

_CHANGES = frozenset(["update", "edit", "modify", "set", "change", "emulate", "configure"])
_NEEDS_MORE = frozenset(
    words_of(
        "upload run find search wait drop navigate go type evaluate send write post add create execute book "
        "convert translate import fill print query"
    )
)
_CONTENT = words_of(
    "url text query paths path title body content message value name function code expression"
)


def says_nothing(tool: Subject, given: Collection[str]) -> bool:
    """Whether a request with the arguments ``given`` leaves out what is to be done: an update with no change,
    a search for nothing."""
    verb = next((found for word in tool.name_words if (found := base_verb(word))), "")
    others = set(tool.optional) - set(given)
    return bool(others) and (verb in _CHANGES or (verb in _NEEDS_MORE and not given))


def content_of(tool: Subject, choices: Choices, given: Collection[str]) -> dict[str, Any]:
    """The optional argument that most likely says what is to be done, beside those that are ``given``.

    Raises ``NotGenerated`` where none is found and nothing is given.
    """
    for name in sorted(tool.optional, key=_rank):
        rules = simple(properties_of(tool.schema)[name], tool.schema)
        if name in given or rules.get("type", "string") not in ("string", "array"):
            continue
        try:
            return {name: value_for(tool.parameter(name), choices.of(name))}
        except NotGenerated:
            continue
    if given:
        return {}
    raise NotGenerated("its schema does not say which of its optional arguments a call needs")


def small_extra(tool: Subject, choices: Choices, given: Collection[str]) -> dict[str, Any]:
    """In half of the cases one optional argument that takes one of a few texts, with another value than the
    default."""
    few = {name: values for name, values in _few(tool) if name not in given and values}
    if not few or choices.number(0, 1, "extra"):
        return {}
    name = choices.one(sorted(few), "which")
    return {name: choices.of("extra").one(few[name])}


def _few(tool: Subject) -> Iterator[tuple[str, list[str]]]:
    for name in tool.optional:
        try:
            rules = simple(properties_of(tool.schema)[name], tool.schema)
        except NotGenerated:
            continue  # it may be left out
        values = rules.get("enum")
        if is_list(values) and all(isinstance(each, str) and each for each in values):
            yield name, [str(each) for each in values if each != rules.get("default")]


def _rank(name: str) -> tuple[int, str]:
    places = [_CONTENT.index(word) for word in words_of(name) if word in _CONTENT]
    return min(places, default=len(_CONTENT)), name
