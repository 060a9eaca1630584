"""The interface of every provider."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from typing import Protocol

from ..messages import Reply, Request
from ..messages.deltas import CallDelta, Delta, TextDelta


class Provider(Protocol):
    """Something that answers requests. It may hold a pooled client: ``contextlib.aclosing`` closes it."""

    name: str
    format_name: str = ""
    """The wire format whose ``restore`` undoes its changes of arguments; empty if there are none."""
    searches_tools: bool = True
    """Whether the model can search among the tools of a request, where its format has that."""

    price_share: float = 1.0
    """The share of the model's listed price that a request costs."""

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """The answer to ``request``, streamed; the last item is the whole ``Reply``.

        Raises as ``answer``. A stream that breaks off ends with a reply that is ``incomplete``.
        """
        ...

    async def answer(self, request: Request) -> Reply:
        """One answer to ``request``.

        Raises ``AuthError``, ``UnreachableError``, ``UnknownModelError`` or ``ProviderError``.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


def pieces(reply: Reply) -> Iterator[Delta]:
    """A whole answer as a stream: its text in one delta, then each call in one."""
    if reply.message.text:
        yield TextDelta(reply.message.text)
    for index, call in enumerate(reply.message.calls):
        yield CallDelta(index, call.name, call.raw)
