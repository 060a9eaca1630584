"""The session that conversations use, as long as they use it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ...sessions.asker import RoutedAsker
    from ...sessions.session import Session


class InUse(Protocol):
    """The session of the app, and its asker."""

    @property
    def session(self) -> Session:
        """The connected servers."""
        ...

    @property
    def asker(self) -> RoutedAsker:
        """What finds the route and the provider of each question."""
        ...


Using = Callable[[str], AbstractAsyncContextManager[InUse]]
"""Gives the session of now, whose calls are made for the principal, and which stays open for the block."""
