"""The choice of a wording and a rendering for a model, and what was measured for it: plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self, cast

from ...formats.prompt.renderings import DEFAULT

__all__ = ["Measured", "WordingChoice"]


@dataclass(frozen=True, slots=True)
class Measured:
    """One way of calling tools: its trials, how many succeeded, and their tokens, in and out."""

    test_count: int
    success_count: int
    tokens: int

    @property
    def rate(self) -> float:
        """The share of successes, 0 … 1."""
        return self.success_count / self.test_count if self.test_count else 0.0

    @property
    def text(self) -> str:
        """As in ``3/4``."""
        return f"{self.success_count}/{self.test_count}"


@dataclass(frozen=True, slots=True)
class WordingChoice:
    """The ``wording`` that is the best of all ``measured`` for ``model_id`` (``provider/model``), and its
    ``native`` calls beside them, in the ``rendering`` that is the best of all ``renderings``; all in one run,
    which ended at ``timestamp``. Earlier versions measured no renderings."""

    model_id: str
    wording: str
    native: Measured
    measured: Mapping[str, Measured]
    timestamp: str
    rendering: str = DEFAULT
    renderings: Mapping[str, Measured] = field(default_factory=dict[str, Measured])

    @property
    def chosen(self) -> Measured:
        """What was measured of the chosen wording."""
        return self.measured[self.wording]

    @property
    def better(self) -> Literal["native", "prompt", "equal"]:
        """Whether the model succeeds more often by native calls or by the chosen wording."""
        if self.native.rate == self.chosen.rate:
            return "equal"
        return "native" if self.native.rate > self.chosen.rate else "prompt"

    @property
    def text(self) -> str:
        """The choice in a sentence."""
        verdict = {
            "native": "native calls are better",
            "prompt": f"prompt:{self.model_id} is better",
            "equal": "both are equal",
        }
        by = "" if self.rendering == DEFAULT else f" by the rendering {self.rendering}"
        return (
            f"prompt:{self.model_id} has the wording {self.wording} ({self.chosen.text}), native calls{by} "
            f"{self.native.text}: {verdict[self.better]}"
        )

    def as_dict(self) -> dict[str, Any]:
        """``{"model_id", "wording", "rendering", "better", "native", "wordings": {NAME: …}, "renderings":
        {NAME: …}, "timestamp"}``, of each way ``{"test_count", "success_count", "tokens"}``."""
        return {
            "model_id": self.model_id,
            "wording": self.wording,
            "rendering": self.rendering,
            "better": self.better,
            "native": asdict(self.native),
            "wordings": {name: asdict(each) for name, each in self.measured.items()},
            "renderings": {name: asdict(each) for name, each in self.renderings.items()},
            "timestamp": self.timestamp,
        }

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The choice that ``as_dict`` wrote. Raises ``ValueError`` when it is none."""
        try:
            data = cast("dict[str, Any]", json.loads(text))
            found = cls(
                data["model_id"],
                data["wording"],
                Measured(**data["native"]),
                _measured(data["wordings"]),
                data["timestamp"],
                data.get("rendering", DEFAULT),
                _measured(data.get("renderings", {})),
            )
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"no choice of a wording: {error!r}") from None
        if found.wording not in found.measured:
            raise ValueError(f"the wording {found.wording!r} was not measured")
        return found


def _measured(ways: Mapping[str, Any]) -> dict[str, Measured]:
    return {str(name): Measured(**each) for name, each in ways.items()}
