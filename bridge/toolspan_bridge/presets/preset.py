"""One preset: the record, and the question that it makes of a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self, cast

from ..errors import UsageError
from ..loop import Question
from ..messages import EFFORTS, ReasoningEffort, ToolSpec
from ..providers.best import best_of
from .tools import DEFAULT_TOOLS, resolved

LONGEST_NAME = 100
LONGEST_INSTRUCTIONS = 100_000


@dataclass(frozen=True, slots=True)
class Preset:
    """How questions are asked under a name. ``instructions`` are the system prompt, ``model`` is written
    ``provider/model``, or ``best`` for the cheapest validated one; where one is empty, what holds without a
    preset holds. ``created_at`` and ``updated_at`` are in seconds since 1970. ``enabled_tools`` are the
    tools that the model may use: names of servers' tools, or of tools of the provider's own such as
    ``web_search``.
    """

    id: str
    name: str
    instructions: str
    model: str
    default_reasoning_level: ReasoningEffort
    created_at: int
    updated_at: int
    enabled_tools: tuple[str, ...] = DEFAULT_TOOLS

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The preset of a stored ``record``; an old one without ``enabled_tools`` has the default ones.

        Raises ``UsageError`` that says which of its keys is missing or wrong.
        """
        tools = _texts(record.get("enabled_tools", list(DEFAULT_TOOLS)))
        wrong = [
            key for key in ("id", "name", "instructions", "model") if not isinstance(record.get(key), str)
        ]
        wrong += [key for key in ("created_at", "updated_at") if not _is_time(record.get(key))]
        if record.get("default_reasoning_level") not in EFFORTS:
            wrong.append("default_reasoning_level")
        if tools is None:
            wrong.append("enabled_tools")
        if wrong or tools is None:
            raise UsageError(f"{', '.join(wrong)}: missing or of the wrong type")
        return cls(
            record["id"],
            record["name"],
            record["instructions"],
            record["model"],
            record["default_reasoning_level"],
            record["created_at"],
            record["updated_at"],
            tools,
        )

    def as_dict(self) -> dict[str, Any]:
        """The record: every field by its name."""
        return {**asdict(self), "enabled_tools": list(self.enabled_tools)}

    def question(self, text: str, model: str, tools: Sequence[ToolSpec]) -> Question:
        """The question ``text`` to ``model`` (its name at its provider), with the enabled ones of ``tools``.

        Raises ``UsageError`` when an enabled tool is neither among them nor one of a provider's own.
        """
        enabled = resolved(self.enabled_tools, tools)
        return Question(
            text,
            model,
            system=self.instructions,
            allowed_tools=enabled.allowed,
            builtins=enabled.builtins,
            reasoning=self.default_reasoning_level,
        )


def checked_name(name: str) -> str:
    """``name``. Raises ``UsageError`` when it cannot be one."""
    if not 1 <= len(name) <= LONGEST_NAME or name != name.strip() or not name.isprintable():
        raise UsageError(
            f"the name of a preset is one line of 1 to {LONGEST_NAME} characters, without blanks around it"
        )
    return name


def checked_instructions(text: str) -> str:
    """``text``. Raises ``UsageError`` when it is too long."""
    if len(text) > LONGEST_INSTRUCTIONS:
        raise UsageError(
            f"the instructions of a preset may have {LONGEST_INSTRUCTIONS:,} characters, not {len(text):,}"
        )
    return text


def checked_level(level: str) -> ReasoningEffort:
    """``level``. Raises ``UsageError`` when there is no such one."""
    for known in EFFORTS:
        if level == known:
            return known
    raise UsageError(f"there is no reasoning level {level!r}: one of {', '.join(EFFORTS)}")


def checked_model(model: str) -> str:
    """``model``, ``provider/model``, ``best``, ``best:provider`` or empty. Raises ``UsageError``."""
    provider, slash, name = model.partition("/")
    named = (provider and slash and name) or best_of(model) is not None
    if model and not (named and model.isprintable()):
        raise UsageError(
            f"the model {model!r} of a preset: write PROVIDER/MODEL, as openai/gpt-5.1, or best, the "
            "cheapest validated one"
        )
    return model


def _is_time(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _texts(value: object) -> tuple[str, ...] | None:
    """``value`` if it is a list of texts."""
    if not isinstance(value, list):
        return None
    items: list[Any] = cast("Any", value)
    return tuple(items) if all(isinstance(each, str) for each in items) else None
