"""Which model answers a server that says what it would prefer (MCP, client/sampling: model preferences)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...client import Sampling


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What a person allows: models (``provider/model``) ``by_hint``, a part of names that servers hint at,
    and ``by_priority``: ``cost``, ``speed`` or ``intelligence``."""

    by_hint: Mapping[str, str] = field(default_factory=dict[str, str])
    by_priority: Mapping[str, str] = field(default_factory=dict[str, str])

    def chosen(self, sampling: Sampling) -> str:
        """The model for the first hint that one is allowed for, by the first part that fits it; else for what
        the server gives the greatest weight; else none: the conversation's answers."""
        for hint in sampling.hints:
            for part, model in self.by_hint.items():
                if part.casefold() in hint.casefold():
                    return model
        weights = {name: weight for name, weight in sampling.priorities.items() if weight > 0}
        most = max(weights, key=weights.__getitem__, default="")
        return self.by_priority.get(most, "")
