"""The handling of a server's own notifications and requests."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

ToldOf = Callable[[Iterable[str]], None]
"""Takes the URIs of the resources whose changes a server tells of, once it has said so."""

CURRENT_CALL: ContextVar[str | None] = ContextVar("toolspan_upstream_call", default=None)
"""The call that is being made. Over HTTP, messages within a call's response stream belong to it."""


def begin_call(call: str) -> None:
    """From now on, what the current task does belongs to ``call``."""
    CURRENT_CALL.set(call)


@contextmanager
def within_call(call: str) -> Generator[None]:
    """What the current task does in the block belongs to ``call``."""
    token = CURRENT_CALL.set(call)
    try:
        yield
    finally:
        CURRENT_CALL.reset(token)


class RefusedQuestion(Exception):
    """A server's question is not answered; it gets the JSON-RPC error ``code`` and ``message``. ``shown`` is
    what the person here is told, if that is more."""

    def __init__(self, code: int, message: str, shown: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.shown = shown or message


class Listener(Protocol):
    """Hears a server. ``call`` is the call (``CURRENT_CALL``) that something belongs to, if that is known."""

    def capabilities(self, call: str | None) -> Mapping[str, Any]:
        """The ``ClientCapabilities`` declared to the server, for ``call`` or in general."""
        ...

    def notify(self, method: str, params: Mapping[str, Any], call: str | None) -> bool:
        """Take a notification, at once and without raising; false when it is none of ours."""
        ...

    async def answer(self, method: str, params: Mapping[str, Any], call: str | None) -> dict[str, Any]:
        """The result of a server's request. Raises ``RefusedQuestion``."""
        ...
