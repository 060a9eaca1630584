"""Streams of models whose thoughts have no opening tag: the text is held back until it is known what it is.

The templates of some models write the tag into the prompt, so that a server without a parser for it sends
the thoughts as text, and the closing tag after them. Which models do so is known by their names, or once one
did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...messages import Reply
from ...messages.deltas import Delta, ReasoningDelta, TextDelta

__all__ = ["HeldThoughts", "UnopenedThoughts"]

_THINK_UNOPENED = re.compile(
    r"deepseek[-_]?r1|\bqwq\b|qwen3[\w.:-]{0,40}thinking|glm-z1|minimax-m2|exaone-deep|olmo-3[\w.-]{0,40}think|"
    r"step-?3\b",
    re.IGNORECASE,
)
"""Models that always think, and whose chat templates open the thoughts."""


class UnopenedThoughts:
    """What is known of the models of one provider."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def held(self, model: str) -> HeldThoughts:
        """What holds the text of an answer of ``model``."""
        holds = model in self._seen or _THINK_UNOPENED.search(model[:200]) is not None
        return HeldThoughts(self, model, holds=holds)

    def learn(self, model: str, *, thinks: bool) -> None:
        """The thoughts of ``model`` had no opening tag; or an answer had no such thoughts, so that the next
        one is not held back."""
        if thinks:
            self._seen.add(model)
        else:
            self._seen.discard(model)


class HeldThoughts:
    """The text of one answer, held back as long as it may be thoughts."""

    def __init__(self, known: UnopenedThoughts, model: str, *, holds: bool) -> None:
        self._known = known
        self._model = model
        self._holds = holds
        self._held: list[str] = []

    def take(self, item: Delta | Reply) -> Iterator[Delta | Reply]:
        """What can be shown with ``item``, the next one of the answer."""
        if isinstance(item, ReasoningDelta) and item.was_text:
            self._known.learn(self._model, thinks=True)
            if self._holds:
                self._holds = False
                self._held.clear()
                item = ReasoningDelta(item.text)
        elif self._holds and isinstance(item, TextDelta):
            self._held.append(item.text)
            return
        elif self._holds:
            if isinstance(item, Reply):
                self._known.learn(self._model, thinks=False)
            self._holds = False
            if held := "".join(self._held):
                yield TextDelta(held)
        yield item
