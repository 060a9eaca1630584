"""Pages that a server wants visited before it makes a call, until it says that the person is done there."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import anyio


class AwaitedPage:
    """One page. ``done`` is set when the server says so (MCP 2025-11-25,
    ``notifications/elicitation/complete``), which withdraws the question of the block ``asking``."""

    def __init__(self) -> None:
        self.done = anyio.Event()
        self._scopes: set[anyio.CancelScope] = set()

    @contextmanager
    def asking(self) -> Generator[None]:
        """The person is asked in the block, which ends when the page is done."""
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                yield
            finally:
                self._scopes.discard(scope)

    def complete(self) -> None:
        """The person is done there."""
        self.done.set()
        for scope in self._scopes:
            scope.cancel()


class AwaitedPages:
    """The pages of one server that calls wait for, by the ids that the server gave them."""

    def __init__(self) -> None:
        self._pages: dict[str, list[AwaitedPage]] = {}

    @contextmanager
    def awaited(self, id: str) -> Generator[AwaitedPage]:
        """A call waits in the block for the page ``id``."""
        page = AwaitedPage()
        self._pages.setdefault(id, []).append(page)
        try:
            yield page
        finally:
            self._pages[id].remove(page)
            if not self._pages[id]:
                del self._pages[id]

    def complete(self, id: object) -> None:
        """The server says that the page ``id`` is done. One that nobody waits for is passed over."""
        for page in self._pages.get(str(id), ()):
            page.complete()
