"""``offline/keyword``: a plain picker of tools by word overlap. It is not a language model, and says so.

It needs no key and no network, knows no tool by name, and is deterministic: the same question and tools give
the same calls. It is a baseline to compare models with, and lets any configuration be tried at once.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from typing_extensions import override

from ....errors import UnknownModelError
from ....formats.names import NameTable
from ....messages import (
    Assistant,
    Reply,
    Request,
    ToolCall,
    ToolOutcome,
    ToolResults,
    User,
)
from ....messages.deltas import Delta
from ...contract import Provider, pieces
from ._pick import pick
from ._reply import answer, no_answer

__all__ = ["connect"]

_MODEL = "keyword"


def connect(model: str) -> Provider:
    """The picker. Raises ``UnknownModelError`` for any model but ``keyword``."""
    if model != _MODEL:
        raise UnknownModelError(f"offline has no model {model!r}: its only one is offline/{_MODEL}")
    return _Keyword()


class _Keyword(Provider):
    name = "offline"

    @override
    async def answer(self, request: Request) -> Reply:
        asked, outcomes = _latest(request)
        if outcomes:
            return Reply(Assistant(answer(outcomes)))
        tools = request.tools if request.tool_choice != "none" else ()
        picks = pick(asked, tools, always=request.tool_choice == "required")
        if not picks:
            return Reply(Assistant(no_answer(request.tools)))
        names = NameTable.of(request.tools)
        first = 1 + sum(len(m.calls) for m in request.messages if isinstance(m, Assistant))
        calls = (
            ToolCall(id=f"call_{number}", name=names.wire(found.tool), arguments=found.arguments)
            for number, found in enumerate(picks, first)
        )
        return Reply(Assistant(calls=tuple(calls)))

    @override
    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """The answer, whole: there is nothing to wait for."""
        reply = await self.answer(request)
        for piece in pieces(reply):
            yield piece
        yield reply

    @override
    async def aclose(self) -> None:
        """There is nothing to close."""


def _latest(request: Request) -> tuple[str, list[ToolOutcome]]:
    """The last question, and the outcomes of the calls that it led to."""
    outcomes: list[ToolOutcome] = []
    for message in reversed(request.messages):
        match message:
            case User(text):
                return text, outcomes
            case ToolResults(found):
                outcomes[:0] = found
            case Assistant():
                pass
    return "", outcomes
