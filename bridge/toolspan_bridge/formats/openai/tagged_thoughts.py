"""Thoughts that stand in an answer's text, in ``<think>`` tags at its start.

Servers without a parser for a model's reasoning leave them there (llama.cpp, vLLM, LM Studio and others with
DeepSeek's R1, QwQ or MiniMax's M1). What mentions the tag later in a text is text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ...messages.deltas import Delta, ReasoningDelta, TextDelta

__all__ = ["TaggedThoughts", "without_thoughts"]

_START, _END = "<think>", "</think>"


def without_thoughts(content: str) -> str:
    """The answer in ``content``; empty where the thoughts at its start have no end."""
    begun = content.lstrip()
    if not begun.startswith(_START):
        return content
    return begun.partition(_END)[2].lstrip()


class TaggedThoughts:
    """The text of a stream as deltas; those of its text add up to ``without_thoughts`` of the whole."""

    def __init__(self) -> None:
        self._place: Literal["before", "in", "after", "text"] = "before"
        self._held = ""

    @property
    def undecided(self) -> bool:
        """Whether all that came may yet be the beginning of a tag."""
        return self._place == "before"

    def feed(self, piece: str) -> Iterator[Delta]:
        """The deltas of ``piece`` and of what was held back until it is clear what it belongs to."""
        if self._place == "text":
            if piece:
                yield TextDelta(piece)
            return
        self._held += piece
        if self._place == "before":
            yield from self._begun()
        if self._place == "in":
            yield from self._thought()
        if self._place == "after" and (shown := self._held.lstrip()):
            self._place, self._held = "text", ""
            yield TextDelta(shown)

    def end(self) -> Iterator[Delta]:
        """The deltas of what is held back when no more text comes."""
        held, self._held = self._held, ""
        if held and self._place == "before":
            yield TextDelta(held)
        elif held and self._place == "in":
            yield ReasoningDelta(held)

    def _begun(self) -> Iterator[Delta]:
        begun = self._held.lstrip()
        if begun.startswith(_START):
            self._place, self._held = "in", begun.removeprefix(_START)
        elif not _START.startswith(begun):
            shown, self._held, self._place = self._held, "", "text"
            yield TextDelta(shown)

    def _thought(self) -> Iterator[Delta]:
        thought, found, rest = self._held.partition(_END)
        if found:
            self._place, self._held = "after", rest
        else:
            kept = next((n for n in range(len(_END) - 1, 0, -1) if thought.endswith(_END[:n])), 0)
            cut = len(thought) - kept
            thought, self._held = thought[:cut], thought[cut:]
        if thought:
            yield ReasoningDelta(thought)
