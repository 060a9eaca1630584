"""Finds and leaves out tools that a provider refuses: one bad tool makes the whole request fail.

A 400 that names a tool is believed. One that is about tools and names none is narrowed down: the
same request with half of the suspects, for at most 16 tokens, until one is left. That takes log2 of their
number in requests, and none of them executes anything. The turn is then requested once more.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from ...deltas import Delta
from ...errors import ProviderError
from ...formats import Format
from ...formats.names import NameTable
from ...messages import Reply, Request, ToolSpec

Ask = Callable[[Request], Awaitable[Reply]]
Stream = Callable[[Request], AsyncGenerator[Delta | Reply]]

_REFUSALS = (400, 422)
_PROBE_TOKENS = 16
_ABOUT_TOOLS = re.compile(
    r"(?i)\btools?\b|\bfunctions?\b|schema|function_?declarations?|tool_?(?:config|spec)|"
    r"\btools[\[.]|additionalProperties|\$ref"
)
_ABOUT_ANOTHER = re.compile(
    r"(?i)(?:not|n't) support\w*\W+(?:\w+\W+)?(?:tools?|functions?)\b|"
    r"context (?:length|window)|too long|too many tokens"
)


@dataclass(frozen=True, slots=True)
class _RefusedTool:
    """A tool to leave out, and the refusal. ``proven`` is whether the provider itself named it."""

    tool: ToolSpec
    error: ProviderError
    proven: bool


class Quarantine:
    """The tools that ``provider`` refused, for each model, as long as the provider is in use."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._refused: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)

    async def answer(self, request: Request, wire: Format, ask: Ask) -> Reply:
        """``ask(request)`` without the refused tools. ``Reply.notes`` names one that is newly left out.

        Raises as ``ask``; when leaving one out does not help, the original refusal.
        """
        request = self.without_refused(request)
        try:
            return await ask(request)
        except ProviderError as error:
            culprit = await self._culprit(request, error, wire, ask)
            if culprit is None:
                raise
        try:
            reply = await ask(self._without(request, culprit))
        except ProviderError as error:
            raise _which(culprit, error) from None
        return self._noted(reply, request, culprit)

    async def stream(
        self, request: Request, wire: Format, stream: Stream, ask: Ask
    ) -> AsyncGenerator[Delta | Reply]:
        """Like ``answer``, for ``stream(request)``. No request is repeated once a delta was yielded."""
        request = self.without_refused(request)
        begun = False
        try:
            async with aclosing(stream(request)) as items:
                async for item in items:
                    begun = True
                    yield item
            return
        except ProviderError as error:
            culprit = None if begun else await self._culprit(request, error, wire, ask)
            if culprit is None:
                raise
        try:
            async with aclosing(stream(self._without(request, culprit))) as items:
                async for item in items:
                    yield self._noted(item, request, culprit) if isinstance(item, Reply) else item
        except ProviderError as error:
            raise _which(culprit, error) from None

    def without_refused(self, request: Request) -> Request:
        """``request`` without the tools that were refused for its model."""
        refused = self._refused.get(request.model)
        if not refused:
            return request
        return replace(request, tools=tuple(tool for tool in request.tools if tool.key not in refused))

    def _without(self, request: Request, culprit: _RefusedTool) -> Request:
        if culprit.proven:
            self._refused[request.model].add(culprit.tool.key)
        return replace(request, tools=tuple(t for t in request.tools if t.key != culprit.tool.key))

    def _noted(self, reply: Reply, request: Request, culprit: _RefusedTool) -> Reply:
        self._refused[request.model].add(culprit.tool.key)
        tool = culprit.tool
        note = f"The tool {tool.name!r} of {tool.server} is left out, {self._provider} refuses it"
        return replace(reply, notes=(f"{note}: {culprit.error}", *reply.notes))

    async def _culprit(
        self, request: Request, error: ProviderError, wire: Format, ask: Ask
    ) -> _RefusedTool | None:
        """The tool that ``error`` is about; ``None`` when it is about something else."""
        if error.status not in _REFUSALS or not request.tools or request.tool_choice == "none":
            return None
        if error.fault not in ("tool", "other"):
            return None
        sent = _sent(request, wire)
        if error.tool is not None:
            named = _tool_named(error.tool, sent, request)
            found = None if named is None else _RefusedTool(named, error, proven=True)
        elif sent and _ABOUT_TOOLS.search(error.message) and not _ABOUT_ANOTHER.search(error.message):
            tool = await _narrowed(sent, request, ask)
            found = None if tool is None else _RefusedTool(tool, error, proven=False)
        else:
            found = None
        return None if found is None or found.tool.key == request.tool_choice else found


async def _narrowed(suspects: Sequence[ToolSpec], request: Request, ask: Ask) -> ToolSpec | None:
    """The one of ``suspects`` without which there is no refusal; ``None`` when the cause is another."""
    while len(suspects) > 1:
        half = suspects[: len(suspects) // 2]
        refused = await _refuses(half, request, ask)
        if refused is None:
            return None
        suspects = half if refused else suspects[len(half) :]
    return suspects[0]


async def _refuses(tools: Sequence[ToolSpec], request: Request, ask: Ask) -> bool | None:
    """Whether ``request`` with ``tools`` alone is refused; ``None`` when it fails in another way."""
    try:
        await ask(
            replace(request, tools=tuple(tools), tool_choice="auto", stream=False, max_tokens=_PROBE_TOKENS)
        )
    except ProviderError as error:
        return True if error.status in _REFUSALS else None
    return False


def _which(culprit: _RefusedTool, error: ProviderError) -> ProviderError:
    """The error to raise when the second request failed as well."""
    return culprit.error if error.status in _REFUSALS and not culprit.proven else error


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
