"""Asks once more, without the thoughts that do not fit, when a provider refuses those of a conversation.

Newer models of Claude bind each thought to the system prompt, the tools and the messages before it. The
formats send these as they were; where a person changed them, the provider answers with 400. It can
be told to leave such thoughts out: then it answers, and that it had to is a note. OpenAI's encrypted thoughts
belong to an organization and a model, and are left out here when it refuses them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

from typing_extensions import override

from ...errors import ProviderError
from ...messages import Reply, Request
from ...messages.deltas import Delta
from .provider import WireProvider

BETA = "thinking-binding-controls-2026-08-01"
"""Anthropic's name of the feature, which a request that uses it has to state."""

_HEADER = "anthropic-beta"
_MOST_REMEMBERED = 1024


class UnboundThoughts(WireProvider):
    """What providers of such models have in common. A conversation whose thoughts were refused is remembered,
    so that its next requests are not refused first."""

    _changed: frozenset[str] = frozenset()
    _dropped = False

    @property
    def _betas(self) -> tuple[str, ...]:
        """The features to state in a header, once any request needed them."""
        return (BETA,) if self._dropped else ()

    @override
    async def _answer(self, request: Request) -> Reply:
        request = self._known(request)
        try:
            return await super()._answer(request)
        except ProviderError as error:
            again = self._again(request, error)
        return _noted(await super()._answer(again), self.name)

    @override
    async def _stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        request = self._known(request)
        begun = False
        try:
            async with aclosing(super()._stream(request)) as items:
                async for item in items:
                    begun = True
                    yield item
            return
        except ProviderError as error:
            if begun:
                raise
            again = self._again(request, error)
        async with aclosing(super()._stream(again)) as items:
            async for item in items:
                yield _noted(item, self.name) if isinstance(item, Reply) else item

    def _known(self, request: Request) -> Request:
        return _tolerant(request) if request.conversation in self._changed else request

    def _again(self, request: Request, error: ProviderError) -> Request:
        """``request`` such that it may be accepted. Raises ``error`` when it is about something else."""
        if error.fault != "changed_prefix" or request.wire.drop_unbound:
            raise error
        self._dropped = True
        if request.conversation:
            kept = self._changed if len(self._changed) < _MOST_REMEMBERED else frozenset[str]()
            self._changed = kept | {request.conversation}
        return _tolerant(request)


def _tolerant(request: Request) -> Request:
    return replace(request, wire=replace(request.wire, drop_unbound=True))


def with_betas(headers: Mapping[str, str], betas: Sequence[str]) -> Mapping[str, str]:
    """``headers`` with ``betas`` beside those that they state already."""
    if not betas:
        return headers
    stated = headers.get(_HEADER, "")
    return {**headers, _HEADER: ",".join(filter(None, (stated, *betas)))}


def _noted(reply: Reply, provider: str) -> Reply:
    note = (
        f"{provider} left out earlier thoughts of the model: they belong to another account or "
        "model, or to a system prompt, tools or messages that have changed since"
    )
    return replace(reply, notes=(*reply.notes, note))
