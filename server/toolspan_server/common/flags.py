"""A ``threading.Event`` that is cheap until someone waits for it.

Every call has one, which few handlers ask for. With an event of the standard library, which makes its locks
at once, a call over stdio costs 1.14 times as much processor time (``benchmarks/shortcuts.py``).
"""

from __future__ import annotations

import threading

from typing_extensions import override

_guard = threading.Lock()


class Flag(threading.Event):
    """An event whose lock and queue are made by the first ``wait``: most are never waited for."""

    def __init__(self) -> None:
        self._is_set = False
        self._event: threading.Event | None = None

    @override
    def __repr__(self) -> str:
        return f"<Flag: {'set' if self._is_set else 'unset'}>"

    @override
    def is_set(self) -> bool:
        return self._is_set

    @override
    def set(self) -> None:
        with _guard:
            self._is_set = True
            if self._event is not None:
                self._event.set()

    @override
    def clear(self) -> None:
        with _guard:
            self._is_set = False
            if self._event is not None:
                self._event.clear()

    @override
    def wait(self, timeout: float | None = None) -> bool:
        with _guard:
            if self._is_set:
                return True
            if self._event is None:
                self._event = threading.Event()
        return self._event.wait(timeout)
