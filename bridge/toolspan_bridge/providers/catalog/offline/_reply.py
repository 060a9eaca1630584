"""Plain text from tool results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ....messages import ToolOutcome, ToolSpec
from ...wire.json_types import is_list, is_object

NOTE = "(offline/keyword matched your words to the tools' words; it is no language model.)"
_LONGEST = 1_200
_ITEMS = 5


def answer(outcomes: Sequence[ToolOutcome]) -> str:
    """What the tools gave, one line or block a call; a failure in its own words."""
    blocks = [f"{outcome.name}: {_outcome_text(outcome)}" for outcome in outcomes]
    return "\n".join([*blocks, NOTE])


def no_answer(tools: Sequence[ToolSpec]) -> str:
    """The answer when no tool has enough in common with the question."""
    names = ", ".join(sorted({tool.name for tool in tools}))
    there = f"no tool here speaks of it (there are: {names})" if names else "there are no tools here"
    return f"I cannot answer that: {there}.\n{NOTE}"


def _outcome_text(outcome: ToolOutcome) -> str:
    if outcome.failed:
        hint = outcome.result.get("user_action")
        reported = str(outcome.result.get("error", "it failed"))
        return f"failed: {reported}" + (f" ({hint})" if hint else "")
    return _cut(_shown(outcome.result.get("result")))


def _shown(value: Any) -> str:
    if is_object(value):
        if len(value) == 1:
            return _shown(next(iter(value.values())))
        return ", ".join(f"{str(key).replace('_', ' ')} {_brief(each)}" for key, each in value.items())
    if is_list(value):
        lines = "".join(f"\n- {_brief(item)}" for item in value[:_ITEMS])
        more = f"\n- and {len(value) - _ITEMS} more" if len(value) > _ITEMS else ""
        return f"{lines}{more}" if value else "nothing found"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _brief(value: Any) -> str:
    if isinstance(value, str):
        return value
    if is_list(value) and not value:
        return "none"
    if is_object(value):
        return ", ".join(f"{key}: {_brief(each)}" for key, each in value.items())
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… (cut; {len(text):,} characters in all)"
