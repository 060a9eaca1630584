"""The wait for servers to start."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager

from .waits import Wait, waits_here

_SHOWN = 3


class _ServerWait:
    """The servers ``names`` are waited for, until each was given to ``ready`` or ``close`` is called."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        self._wait: Wait | None = waits_here().begin(self._text()) if self._names else None

    def ready(self, name: str) -> None:
        """The server ``name`` has answered, or failed."""
        if name in self._names:
            self._names.remove(name)
        if not self._names:
            self.close()
        elif self._wait is not None:
            self._wait.text = self._text()

    def close(self) -> None:
        """None is waited for any more."""
        if self._wait is not None:
            waits_here().end(self._wait)
            self._wait = None

    def _text(self) -> str:
        more = len(self._names) - _SHOWN
        named = ", ".join(self._names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
        return f"the server{'s' if len(self._names) > 1 else ''} {named} to start"


@contextmanager
def servers_starting(names: Iterable[str]) -> Generator[Callable[[str], None]]:
    """In the block the servers ``names`` start; it gets what to call with each that is ready."""
    wait = _ServerWait(names)
    try:
        yield wait.ready
    finally:
        wait.close()
