"""Datasets of Inspect: JSON or JSON lines of samples with ``input`` and ``target``.

The scorer stands in Python, not in the dataset: ``includes`` is meant (a target is in the answer, in any
case), or, where it is named so, ``match`` (the answer ends with it).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...providers.wire.json_types import is_list, is_object
from .contract import Found, LeftOut, NotTaken
from .expecting import Expecting, Part, literal
from .reading import records

_NEEDS_MORE = {
    "choices": "it is a question with choices, which has no equal here",
    "sandbox": "it needs a sandbox",
    "files": "it needs files in a sandbox",
    "setup": "it needs a script that is run before",
}
_PUNCTUATION = r"[\s[:punct:]]*"


def included(path: Path) -> Found:
    """The samples in ``path``, scored as by ``includes``. Raises ``UsageError`` and ``ConfigError``."""
    return _found(path, at_end=False)


def matched(path: Path) -> Found:
    """The samples in ``path``, scored as by ``match``. Raises ``UsageError`` and ``ConfigError``."""
    return _found(path, at_end=True)


def _found(path: Path, *, at_end: bool) -> Found:
    found = Found()
    where = "ends with" if at_end else "holds"
    found.notes.append(f"the dataset names no scorer: an answer is right that {where} a target, in any case")
    for number, (place, sample) in enumerate(records(path), 1):
        try:
            found.scenarios.append(_scenario(sample, number, at_end=at_end))
        except NotTaken as why:
            found.left_out.append(LeftOut(place, str(why)))
    return found


def _scenario(sample: Mapping[str, Any], number: int, *, at_end: bool) -> Mapping[str, Any]:
    if key := next((key for key in _NEEDS_MORE if sample.get(key)), None):
        raise NotTaken(_NEEDS_MORE[key])
    expecting = Expecting()
    expecting.answer(*(_rule(each, at_end=at_end) for each in _targets(sample)))
    name = sample.get("id")
    return {
        "name": str(name) if name is not None else f"sample {number}",
        "query": _question(sample),
        "expect": expecting.as_data(),
    }


def _question(sample: Mapping[str, Any]) -> str:
    given: Any = sample.get("input")
    if is_list(given) and len(given) == 1 and is_object(given[0]) and given[0].get("role") == "user":
        given = given[0].get("content")
    if is_list(given):
        raise NotTaken("a conversation of several messages has no equal here")
    if not isinstance(given, str) or not given.strip():
        raise NotTaken("it has no input")
    return given


def _targets(sample: Mapping[str, Any]) -> list[str]:
    given: Any = sample.get("target")
    targets = given if is_list(given) else [given]
    if not targets or not all(isinstance(each, str) and each.strip() for each in targets):
        raise NotTaken("it has no target that is a text")
    return [str(each) for each in targets]


def _rule(target: str, *, at_end: bool) -> Part | Mapping[str, str]:
    if not at_end:
        return Part(target)
    bare = target.strip().strip("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    if not bare:
        raise NotTaken("its target is nothing but signs")
    return {"matches": f"{literal(bare, any_case=True)}{_PUNCTUATION}\\z"}
