"""The handlers that modules declare, for whoever only looks at a config: none of them is imported."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ._declared_handlers import DeclaredHandlers

_reading: ContextVar[DeclaredHandlers | None] = ContextVar("toolspan_declared_handlers", default=None)


def declared() -> DeclaredHandlers | None:
    """What the modules that were read declare; ``None`` outside of ``reading_only``."""
    return _reading.get()


@contextmanager
def reading_only() -> Generator[None]:
    """In the block no code of others is imported: ``read_handler_source`` reads what it would register."""
    token = _reading.set(DeclaredHandlers())
    try:
        yield
    finally:
        _reading.reset(token)


def read_handler_source(source: str, config_dir: Path, text: bytes | None = None) -> None:
    """Read what a config names under ``handlers`` for what it declares; ``text`` is the content of the file
    if it was read before.

    Raises ``ImportError``, ``OSError``, ``SyntaxError`` or ``ValueError`` when it cannot be imported.
    """
    from ._source_scan import declarations

    known = _reading.get()
    assert known is not None, "only within reading_only"
    found = declarations(source, config_dir, text)
    known.names |= found.names
    known.is_all = known.is_all and found.is_all
