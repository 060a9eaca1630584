"""The server's log: on standard error, one line a record, without secrets."""

from __future__ import annotations

import logging
import os
import select
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TextIO

from typing_extensions import override

FORMS = ("text", "json")
LEVELS = ("debug", "info", "warning", "error", "critical")
_PIECE = 4096 if sys.platform == "win32" else select.PIPE_BUF
_LIBRARIES = ("asyncio", "httpcore2", "httpx2", "mcp", "sse_starlette", "uvicorn")


class LogFormatter(logging.Formatter):
    """One line a record; what follows (a traceback, a text with newlines) is indented. No secrets."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self.redact: Callable[[str], str] = str

    @override
    def format(self, record: logging.LogRecord) -> str:
        from ..common.visible import visible

        return "\n    ".join(visible(self.redact(super().format(record))).splitlines())


class JsonFormatter(LogFormatter):
    """One JSON object a line: ``{"time", "level", "logger", "message"}``, of a call also ``"tool"`` (or
    ``"resource"``, ``"prompt"``), ``"outcome"``, ``"ms"``, ``"client"``, ``"server"`` and ``"principal"``. No
    secrets."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        import json

        from ..common.visible import visible_json

        text = logging.Formatter.format(self, record).removeprefix(self._head(record))
        known: dict[str, Any] = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self.redact(text),
        }
        for name in ("tool", "resource", "prompt", "outcome", "ms", "client", "server", "principal"):
            if (value := getattr(record, name, None)) is not None:
                known[name] = self.redact(value) if isinstance(value, str) else value
        return visible_json(json.dumps(known, ensure_ascii=False))

    def _head(self, record: logging.LogRecord) -> str:
        return f"{self.formatTime(record)} {record.levelname} {record.name}: "


class LogHandler(logging.StreamHandler[TextIO]):
    """Writes each record as far as there is room: a client that does not read the log must not stop us.

    Records that did not fit are counted; the count is logged before the next record that fits.
    """

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self._left_out = 0
        self._poller = _poller(sys.stderr)

    @override
    def emit(self, record: logging.LogRecord) -> None:
        if self._poller is None:
            super().emit(record)
            return
        try:
            note = f"({self._left_out} log records left out: stderr was not read)\n" if self._left_out else ""
            self._left_out += 1
            if self._written((note + self.format(record) + self.terminator).encode("utf-8", "replace")):
                self._left_out = 0
        except Exception:
            self.handleError(record)

    def _written(self, data: bytes) -> bool:
        """Write ``data`` in pieces for which there is room; false when there was none for the first."""
        begun = False
        self.flush()
        for start in range(0, len(data), _PIECE):
            if not self._has_room():
                break
            os.write(self.stream.fileno(), data[start : start + _PIECE])
            begun = True
        return begun

    def _has_room(self) -> bool:
        assert self._poller is not None
        return any(events & select.POLLOUT for _, events in self._poller.poll(0))


def _poller(stream: TextIO) -> select.poll | None:
    """A function that returns whether ``stream`` has room for a chunk; ``None`` if that is unknown."""
    if sys.platform == "win32":
        return None
    try:
        poller = select.poll()
        poller.register(stream.fileno(), select.POLLOUT)
    except (AttributeError, OSError, ValueError):  # none at all, closed, or not a file
        return None
    return poller


@contextmanager
def logging_to_stderr(level: str, form: str = "text") -> Generator[LogFormatter]:
    """Log at ``level`` and above, libraries at least warnings, in ``form``, one of ``FORMS``; gives the
    formatter, to set ``redact``."""
    formatter = JsonFormatter() if form == "json" else LogFormatter()
    handler = LogHandler()
    handler.setFormatter(formatter)
    root = logging.getLogger()
    levels = {root: root.level} | {each: each.level for each in map(logging.getLogger, _LIBRARIES)}
    wanted = logging.getLevelNamesMapping()[level.upper()]
    root.addHandler(handler)
    root.setLevel(wanted)
    for library in _LIBRARIES:
        logging.getLogger(library).setLevel(max(wanted, logging.WARNING))
    try:
        yield formatter
    finally:
        root.removeHandler(handler)
        for logger, before in levels.items():
            logger.setLevel(before)
