"""Checks the prompts of routes: their placeholders, and the collections that fill them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

from ...common.did_you_mean import nearest
from ...problems import Fault, Path
from ..config_file import ConfigFile
from ..models.profile import FILLED, PLACEHOLDER
from ..raw_data import entries, inside

_PLACEHOLDER = re.compile(PLACEHOLDER)
_MATCH = ("intent_regexp", "profile")


def check_prompts(sources: Sequence[ConfigFile], collections: Sequence[str]) -> None:
    """Add a fault to ``sources`` for each placeholder that nothing fills, and each unknown collection."""
    known = {*FILLED, *(name for source in sources for name in _profile_names(source.data))}
    for source in sources:
        source.add(_faults(source.data, sorted(known), collections))


def _faults(data: Any, known: Sequence[str], collections: Sequence[str]) -> Iterator[Fault]:
    for index, rule in enumerate(entries(inside(data, "responses"))):
        prompt = inside(rule, "prompt")
        place: Path = ("responses", index, "prompt")
        for found in _PLACEHOLDER.finditer(prompt) if isinstance(prompt, str) else ():
            if (name := found.group(1)) not in known:
                yield Fault(place, f"unknown placeholder {{{{{name}}}}}", _hint(name, known))
        name = inside(rule, "rag", "collection")
        if isinstance(name, str) and name not in collections:
            hint = nearest(name, collections) if collections else "add it to services.collections"
            yield Fault(("responses", index, "rag", "collection"), f"unknown collection {str(name)!r}", hint)


def _hint(name: str, known: Sequence[str]) -> str:
    return f"{nearest(name, known)}; a name of the caller's profile is declared under profile"


def _profile_names(data: Any) -> Iterator[str]:
    """The names that rules match, and those that are declared."""
    for rule in entries(inside(data, "responses")):
        yield from (name for name in _names(inside(rule, "match")) if name not in _MATCH)
        yield from _names(inside(rule, "match", "profile"))
    yield from _names(inside(data, "profile"))


def _names(value: Any) -> list[str]:
    given: list[object] = list(cast("dict[object, Any]", value)) if isinstance(value, dict) else []
    return [name for name in given if isinstance(name, str)]
