"""How much a Claude is to think, in the words of its family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....messages import Request
from .models import Family

__all__ = ["THOUGHTS", "Thinking", "thinking_of"]

THOUGHTS = ("redacted_thinking", "thinking")
"""The types of blocks that hold thoughts."""

_BUDGETS = {"low": 2048, "medium": 8192, "high": 16_384}
_LEAST_BUDGET = 1024
_ANSWER = 1024
_SHOWN = {"type": "adaptive", "display": "summarized"}


class Thinking:
    """The members of a request about thinking. ``forced``: whether a call can be demanded beside them;
    ``sampled``: whether a temperature can be set. ``notes`` say what could not be done as asked.
    """

    def __init__(
        self,
        family: Family,
        config: Mapping[str, Any] | None = None,
        effort: str | None = None,
        note: str = "",
    ) -> None:
        self.config = dict(config) if config else None
        self.effort = effort
        self.notes = (note,) if note else ()
        budget = self.config is not None and self.config["type"] == "enabled"
        self.forced = family.forced and not budget
        self.sampled = family.sampling and not budget

    @property
    def budget(self) -> int:
        """The tokens that are set apart for thoughts."""
        return int(self.config.get("budget_tokens", 0)) if self.config else 0


def thinking_of(request: Request, family: Family, sent: Sequence[Mapping[str, Any]]) -> Thinking:
    """What ``request`` asks for, as the family takes it; ``sent`` are its messages as they are written.

    Without a wish, a model that thinks unasked is asked to show it in summary: it would be silent otherwise.
    """
    found = _wished(request, family, sent)
    if request.wire.drop_unbound and family.thinking not in ("never", "budget"):
        found.config = {
            **(found.config if found.config and found.config["type"] == "adaptive" else _SHOWN),
            "block_binding": {"prefix_mismatch_behavior": "drop_block"},
        }
    return found


def _wished(request: Request, family: Family, sent: Sequence[Mapping[str, Any]]) -> Thinking:
    wish = request.reasoning
    if wish is None:
        return Thinking(family, _SHOWN if family.thinks_unasked else None)
    if wish == "none":
        return _none(request, family)
    if family.thinking == "never":
        return Thinking(family, note=f"{request.model} takes no effort of reasoning: {wish!r} is left out")
    if family.thinking == "budget":
        return _budgeted(request, family, _BUDGETS[wish], sent)
    return Thinking(family, _SHOWN, wish if family.effort else None)


def _none(request: Request, family: Family) -> Thinking:
    if not family.thinks_unasked:
        return Thinking(family)
    if family.thinking == "by_default":
        return Thinking(family, {"type": "disabled"})
    if family.thinking == "between_tools":
        return Thinking(family, {"type": "between_tools"})
    return Thinking(family, _SHOWN, "low", f"{request.model} always thinks: its effort is 'low'")


def _budgeted(request: Request, family: Family, budget: int, sent: Sequence[Mapping[str, Any]]) -> Thinking:
    if request.max_tokens is not None:
        budget = min(budget, request.max_tokens - _ANSWER)
    if budget < _LEAST_BUDGET:
        least = _LEAST_BUDGET + _ANSWER
        return Thinking(family, note=f"{request.model} thinks only with max_tokens of {least} or more")
    if not _begins_with_thought(sent):
        return Thinking(family)
    return Thinking(family, {"type": "enabled", "budget_tokens": budget})


def _begins_with_thought(sent: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the turn that is gone on with, if any, began with a thought, as these models insist on."""
    since = len(sent)
    while since and (sent[since - 1]["role"] == "assistant" or _holds_result(sent[since - 1])):
        since -= 1
    turns = [message["content"] for message in sent[since:] if message["role"] == "assistant"]
    return all(content[0].get("type") in THOUGHTS for content in turns[-1:])


def _holds_result(message: Mapping[str, Any]) -> bool:
    return any(block.get("type") == "tool_result" for block in message["content"])
