"""What is seen of a trial while it runs, beside its answer: when the model began, what its format lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar

from ...formats import get_format
from ...messages import ToolSpec

__all__ = ["Observed", "observing"]

_lost: dict[str, tuple[Sequence[ToolSpec], Mapping[str, int]]] = {}
"""Of each format what it lost of the tools that were offered last: most trials offer the same ones."""


class Observed:
    """One trial; ``elapsed`` gives its seconds until now. ``first`` are the seconds until its first token,
    ``None`` before; ``losses`` counts what the wire format cannot say of the offered tools, by rule.
    ``is_watched``: whoever asks tells this of it."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        self.first: float | None = None
        self.losses: Mapping[str, int] = {}
        self.is_watched = False
        self._elapsed = elapsed

    def heard(self) -> None:
        """The model wrote something; only the first time counts."""
        if self.first is None:
            self.first = self._elapsed()

    def offered(self, format_name: str, tools: Sequence[ToolSpec]) -> None:
        """The model is offered ``tools`` in the wire format, whose name is empty where there is none."""
        self.is_watched = True
        if not format_name:
            return
        last = _lost.get(format_name)
        if last is None or last[0] is not tools:
            found = Counter(loss.rule for loss in get_format(format_name).losses(tools))
            last = _lost[format_name] = (tools, dict(sorted(found.items())))
        self.losses = last[1]


observing: ContextVar[Observed | None] = ContextVar("observing", default=None)
"""The trial that is running here, for those who work for it."""
