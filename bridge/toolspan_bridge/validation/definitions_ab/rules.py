"""Rewordings by rules: what failures say of descriptions, without a model.

Tools that are confused tell each other apart; one that is not called says when to call it, one that is called
without need when not to; a parameter whose argument was wrong tells what its schema allows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ...messages import ToolSpec
from ..evidence.confusion import NO_TOOL, confusion
from ..storage.trial import Trial
from .rewording import MOST_CHARACTERS, Rewording, description_of

__all__ = ["by_rules"]

_SHOWN = 160
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "pattern": "matching {}",
    "format": "in the format {}",
}


def by_rules(trials: Iterable[Trial], tools: Sequence[ToolSpec]) -> list[Rewording]:
    """The rewordings of ``tools`` that the failures among ``trials`` speak for, by the tools' names."""
    found = _Found({tool.name: tool for tool in tools})
    for trial in trials:
        if not (trial.success or trial.is_error):
            found.failed(trial)
    return found.rewordings()


@dataclass(slots=True)
class _Found:
    """What is to be added to the description of each tool, or parameter of one, and why."""

    tools: Mapping[str, ToolSpec]
    added: dict[tuple[str, str], dict[str, str]] = field(
        default_factory=dict[tuple[str, str], "dict[str, str]"]
    )

    def failed(self, trial: Trial) -> None:
        for expected, called in confusion([trial]):
            if expected == called:
                self._arguments(expected, trial)
            elif expected == NO_TOOL:
                self._add(
                    called,
                    "",
                    "Call it only when the user asks for this.",
                    f"{called} was called without need",
                )
            elif called == NO_TOOL:
                self._add(
                    expected,
                    "",
                    "Call it for this instead of answering without it.",
                    f"{expected} was not called",
                )
            else:
                self._confused(expected, called)

    def _confused(self, expected: str, called: str) -> None:
        why = f"{called} was called for {expected}"
        if (wanted := self.tools.get(expected)) is not None:
            self._add(
                called, "", f"Not for this: {_first_sentence(wanted)} That is what {expected} is for.", why
            )
        if called in self.tools:
            self._add(expected, "", f"Call this one, not {called}, for it.", why)

    def _arguments(self, name: str, trial: Trial) -> None:
        tool = self.tools.get(name)
        properties: Any = tool.schema.get("properties") if tool else None
        if tool is None or not isinstance(properties, Mapping):
            return
        for parameter, schema in cast("Mapping[str, Any]", properties).items():
            if f"argument {parameter!r}" in trial.error and isinstance(schema, Mapping):
                text = _allowed(cast("Mapping[str, Any]", schema))
                self._add(name, parameter, text, f"the argument {parameter} of {name} was wrong")

    def _add(self, tool: str, parameter: str, text: str, why: str) -> None:
        if tool in self.tools and text:
            self.added.setdefault((tool, parameter), {}).setdefault(text, why)

    def rewordings(self) -> list[Rewording]:
        found: list[Rewording] = []
        for (name, parameter), texts in sorted(self.added.items()):
            before = description_of(self.tools[name], parameter)
            new = [text for text in texts if text not in before]
            whole = " ".join(filter(None, (_ended(before), *new)))
            if new and len(whole) <= MOST_CHARACTERS:
                found.append(Rewording(name, parameter, whole, "; ".join(dict.fromkeys(texts.values()))))
        return found


def _first_sentence(tool: ToolSpec) -> str:
    first = tool.description.strip().split("\n", 1)[0].split(". ", 1)[0]
    return _ended(first[:_SHOWN])


def _ended(text: str) -> str:
    text = text.strip()
    return text if not text or text[-1] in ".!?…" else f"{text}."


def _allowed(schema: Mapping[str, Any]) -> str:
    """What ``schema`` allows, in a sentence; empty where it says nothing."""
    values: Any = schema.get("enum")
    if isinstance(values, Sequence) and not isinstance(values, str):
        named = ", ".join(json.dumps(value, ensure_ascii=False) for value in cast("Any", values))
        return f"One of {named}." if len(named) <= _SHOWN else ""
    bounds = [words.format(schema[key]) for key, words in _BOUNDS.items() if key in schema]
    kind = schema.get("type")
    named = f"a value of type {kind}" if isinstance(kind, str) else "a value"
    return f"Must be {named} {' and '.join(bounds)}." if bounds else ""
