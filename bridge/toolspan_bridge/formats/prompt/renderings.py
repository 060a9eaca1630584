"""How a turn whose calls a model wrote as text goes back to it, with its results. Which rendering serves a
model is measured, on conversations: ``python -m benchmarks.renderings`` compares them.

A rendering is a row of ``RENDERINGS``; ``native.NAME:provider/model`` chooses one for a model, and validation
chooses the best (``toolspan validate --wordings``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...messages import Assistant, Message, Part, Request, ToolOutcome, ToolResults, User
from ..shared.conversation.media import IMAGES
from ..shared.conversation.results import MediaSupport, render_result
from ..shared.json_values import clean

__all__ = ["DEFAULT", "RENDERINGS", "Rendering", "as_user", "rendered"]

_ASKS = "Now answer my question."


@dataclass(frozen=True, slots=True)
class Rendering:
    """``text`` is what stands in the turn's text: all that the model ``written`` there, what is left with the
    calls ``cut`` out, or ``none``. ``calls``: the calls come in their channel too, and the results in the
    role of tools; otherwise the results are the user's words. ``tells``: the results say of which tool they
    are, and ask for the answer.
    """

    text: Literal["written", "cut", "none"]
    calls: bool = True
    tells: bool = False


RENDERINGS: dict[str, Rendering] = {
    "text-only-told": Rendering("written", calls=False, tells=True),
    "text-only": Rendering("written", calls=False),
    "written": Rendering("written"),
    "written-told": Rendering("written", tells=True),
    "cut": Rendering("cut"),
    "calls-only": Rendering("none"),
}
"""The renderings by name."""

DEFAULT = "text-only-told"
"""The rendering of models without a choice."""


def rendered(request: Request, rendering: Rendering) -> Request:
    """``request`` with the turns whose calls were written as text, and their results, in ``rendering``."""
    if not any(isinstance(message, Assistant) and message.written for message in request.messages):
        return request
    return replace(request, messages=tuple(_messages(request, rendering)))


def _messages(request: Request, rendering: Rendering) -> Iterator[Message]:
    was_written = False
    for message in request.messages:
        if isinstance(message, Assistant):
            was_written = bool(message.written and message.calls)
            yield _said(message, rendering) if message.written else message
        elif isinstance(message, ToolResults) and was_written:
            yield _results(message, request, rendering)
        else:
            yield message


def _said(message: Assistant, rendering: Rendering) -> Assistant:
    text = {"written": message.written, "cut": message.text, "none": ""}[rendering.text]
    return replace(message, text=text, calls=message.calls if rendering.calls else ())


def _results(message: ToolResults, request: Request, rendering: Rendering) -> Message:
    if not rendering.calls:
        named = [(outcome.name, outcome) for outcome in message.outcomes]
        return as_user(named, request, tells=rendering.tells)
    if not rendering.tells:
        return message
    last = len(message.outcomes) - 1
    told = (_told(outcome, asks=place == last) for place, outcome in enumerate(message.outcomes))
    return ToolResults(tuple(told))


def _told(outcome: ToolOutcome, *, asks: bool) -> ToolOutcome:
    """``outcome`` with its tool's name before it, and the request for the answer after it."""
    parts: Sequence[Part] = outcome.parts
    if not parts and outcome.structured is None:
        bare = render_result(outcome, MediaSupport(max_text_bytes=1 << 30))
        parts = (_text(bare.text),)
    after = (_text(_ASKS),) if asks else ()
    return replace(outcome, parts=(_text(f"The result of {outcome.name} is:"), *parts, *after))


def _text(words: str) -> Part:
    return Part("text", {"type": "text", "text": words})


def as_user(results: Iterable[tuple[str, ToolOutcome]], request: Request, *, tells: bool = False) -> User:
    """Results in the user's name, each in a ``<tool_result>`` with its tool's name, their images after them.
    ``tells``: told of in words, and with the request for the answer. The tags stay: what a tool says is not
    what the user says."""
    images = IMAGES if request.vision else frozenset[str]()
    support = MediaSupport(request.max_result_bytes, media=images, later=images)
    blocks: list[str] = []
    parts: list[Part] = []
    for name, outcome in results:
        shown = render_result(outcome, support)
        text = clean(shown.text_with_error_mark).replace("</tool_result", "<\\/tool_result")
        told = f"The result of {name} is:\n" if tells else ""
        blocks.append(f'{told}<tool_result name="{name}">\n{text}\n</tool_result>')
        parts.extend(Part("image", {"data": m.data, "mimeType": m.mime}) for m in shown.media)
    return User("\n\n".join([*blocks, _ASKS]) if tells else "\n".join(blocks), tuple(parts))
