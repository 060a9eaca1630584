"""Finds and leaves out tools that a provider refuses: one bad tool makes the whole request fail.

A tool is left out on proof only. The provider names it, or its place; or, where an error is about tools and
names none, the same request with half of the suspects, for at most 16 tokens, until one is left, which has to
be refused alone where a harmless tool alone is taken. None of these requests executes anything. The turn is
then requested once more. Errors about anything else leave every tool in its place.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from ...errors import ProviderError
from ...formats import Format
from ...formats.names import NameTable
from ...messages import Reply, Request, ToolSpec, User
from ...messages.deltas import Delta
from .replies import tell_left_out, with_notes

Ask = Callable[[Request], Awaitable[Reply]]
Stream = Callable[[Request], AsyncGenerator[Delta | Reply]]

MAX_REFUSED = 8
"""How many tools of one request may turn out to be refused."""

_PROBE_TOKENS = 16
_RAN_OUT = re.compile("(?i)max_tokens or model output limit was reached")  # OpenAI's models that reason
_PROBE = (User("Hello."),)
_HARMLESS = ToolSpec("probe", "ping", "Answers with pong.", {"type": "object", "properties": {}})


@dataclass(frozen=True, slots=True)
class _RefusedTool:
    """A tool to leave out, and the refusal."""

    tool: ToolSpec
    error: ProviderError


class Quarantine:
    """The tools that ``provider`` refused, for each model, as long as the provider is in use."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._refused: defaultdict[str, dict[tuple[str, str], str]] = defaultdict(dict)

    async def answer(self, request: Request, wire: Format, ask: Ask) -> Reply:
        """``ask(request)`` without the refused tools. ``Reply.notes`` names those that are left out.

        Raises as ``ask``.
        """
        new: tuple[str, ...] = ()
        notes = self._notes(request)
        while True:
            request = self.without_refused(request)
            tell_left_out((*notes, *new))
            try:
                return with_notes(await ask(request), (*notes, *new))
            except ProviderError as error:
                culprit = await self._culprit(request, error, wire, ask)
                if culprit is None or len(new) == MAX_REFUSED:
                    raise
                new = (*new, self._leave_out(culprit, request))

    async def stream(
        self, request: Request, wire: Format, stream: Stream, ask: Ask
    ) -> AsyncGenerator[Delta | Reply]:
        """Like ``answer``, for ``stream(request)``. No request is repeated once a delta was yielded."""
        new: tuple[str, ...] = ()
        notes = self._notes(request)
        begun = False
        while True:
            request = self.without_refused(request)
            tell_left_out((*notes, *new))
            try:
                async with aclosing(stream(request)) as items:
                    async for item in items:
                        begun = True
                        yield with_notes(item, (*notes, *new)) if isinstance(item, Reply) else item
                return
            except ProviderError as error:
                culprit = None if begun else await self._culprit(request, error, wire, ask)
                if culprit is None or len(new) == MAX_REFUSED:
                    raise
                new = (*new, self._leave_out(culprit, request))

    def without_refused(self, request: Request) -> Request:
        """``request`` without the tools that were refused for its model."""
        refused = self._refused.get(request.model)
        if not refused:
            return request
        return replace(request, tools=tuple(tool for tool in request.tools if tool.key not in refused))

    def _notes(self, request: Request) -> tuple[str, ...]:
        """The notes about the tools of ``request`` that were refused before."""
        refused = self._refused.get(request.model, {})
        return tuple(refused[tool.key] for tool in request.tools if tool.key in refused)

    def _leave_out(self, culprit: _RefusedTool, request: Request) -> str:
        """Leave the tool out from now on; returns the note about it."""
        tool = culprit.tool
        whose = f" of {tool.server}" if tool.server else ""
        note = f"The tool {tool.name!r}{whose} is left out, {self._provider} refuses it: {culprit.error}"
        self._refused[request.model][tool.key] = note
        return note

    async def _culprit(
        self, request: Request, error: ProviderError, wire: Format, ask: Ask
    ) -> _RefusedTool | None:
        """The tool that ``error`` is proven to be about; ``None`` when there is no proof against any."""
        if error.fault != "tool" or not request.tools or request.tool_choice == "none":
            return None
        sent = _sent(request, wire)
        if error.tool is not None:
            found = _tool_named(error.tool, sent, request)
        else:
            suspect = await _narrowed(sent, request, ask)
            found = suspect if suspect and await _is_proven(suspect, request, ask) else None
        return None if found is None or found.key == request.tool_choice else _RefusedTool(found, error)


async def _narrowed(suspects: Sequence[ToolSpec], request: Request, ask: Ask) -> ToolSpec | None:
    """The one of ``suspects`` without which there is no refusal; ``None`` when the cause is another."""
    while len(suspects) > 1:
        half = suspects[: len(suspects) // 2]
        refused = await _refuses(replace(request, tools=tuple(half)), ask)
        if refused is None:
            return None
        suspects = half if refused else suspects[len(half) :]
    return suspects[0] if suspects else None


async def _is_proven(suspect: ToolSpec, request: Request, ask: Ask) -> bool:
    """Whether ``suspect`` alone is refused where a harmless tool alone is taken, without any history."""
    for tool, expected in ((suspect, True), (_HARMLESS, False)):
        if await _refuses(replace(request, messages=_PROBE, tools=(tool,)), ask) is not expected:
            return False
    return True


async def _refuses(request: Request, ask: Ask) -> bool | None:
    """Whether ``request`` is refused for its tools; ``None`` when it fails in another way."""
    probe = replace(request, tool_choice="auto", stream=False, max_tokens=_PROBE_TOKENS, reasoning=None)
    try:
        await ask(probe)
    except ProviderError as error:
        if _RAN_OUT.search(error.message):
            return False
        return True if error.fault == "tool" else None
    return False


def _sent(request: Request, wire: Format) -> list[ToolSpec]:
    """The tools of the payload, in its order."""
    names = NameTable.of(request.tools)
    left_out = {loss.tool for loss in wire.losses(request.tools) if loss.leaves_out}
    return [tool for tool in names.tools if names.wire(tool) not in left_out]


def _tool_named(reference: str | int, sent: Sequence[ToolSpec], request: Request) -> ToolSpec | None:
    """The tool with that wire name or index; indices after the tools are the provider's own."""
    if isinstance(reference, int):
        return sent[reference] if 0 <= reference < len(sent) else None
    tool = NameTable.of(request.tools).tool(reference)
    return tool if tool in sent else None
