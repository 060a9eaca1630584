"""What every provider offers."""

from __future__ import annotations

from typing import Protocol

from ..messages import Reply, Request


class Provider(Protocol):
    """Something that answers requests. It may hold a pooled client: ``contextlib.aclosing`` closes it."""

    name: str
    format_name: str = ""
    """The wire format whose ``restore`` undoes what it changed in arguments; empty when nothing is."""

    async def answer(self, request: Request) -> Reply:
        """One answer to ``request``.

        Raises ``AuthError``, ``UnreachableError``, ``UnknownModelError`` or ``ProviderError``.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...
