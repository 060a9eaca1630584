"""What of a model's answer comes before the whole: pieces of a stream, the same for every provider."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CallDelta", "Delta", "ReasoningDelta", "TextDelta"]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of the thoughts that the model lets be seen. ``was_text``: all text of the turn that came before
    was thought, and is told again here; nothing said so until it ended."""

    text: str
    was_text: bool = False


@dataclass(frozen=True, slots=True)
class CallDelta:
    """More of a tool call, to be shown and never to be executed: that is for the whole reply.

    ``index`` identifies the call within the turn; ``name`` is the wire name, in the call's first piece, and
    longer in the next ones where a server sends it in pieces; ``arguments`` is more of their JSON.
    """

    index: int
    name: str = ""
    arguments: str = ""


Delta = TextDelta | ReasoningDelta | CallDelta
"""One piece of an answer as it streams: of its text, of its reasoning, or a tool call that has begun."""
