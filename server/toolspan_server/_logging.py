"""The server's log: on standard error, one line a record, without secrets."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from typing_extensions import override

LEVELS = ("debug", "info", "warning", "error", "critical")
_LIBRARIES = ("asyncio", "httpx2", "mcp", "sse_starlette", "uvicorn")


class LogFormatter(logging.Formatter):
    """One line a record; what follows (a traceback, a text with newlines) is indented. No secrets."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self.redact: Callable[[str], str] = str

    @override
    def format(self, record: logging.LogRecord) -> str:
        return "\n    ".join(self.redact(super().format(record)).splitlines())


@contextmanager
def logging_to_stderr(level: str) -> Generator[LogFormatter]:
    """Log at ``level`` and above, libraries at least warnings; gives the formatter, to set ``redact``."""
    formatter = LogFormatter()
    handler = logging.StreamHandler(sys.stderr)
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
