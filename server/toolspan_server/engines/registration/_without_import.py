"""The handlers that modules declare, for whoever only looks at a config: none of them is imported."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ._declared_handlers import DeclaredHandlers

_reading: ContextVar[DeclaredHandlers | None] = ContextVar("toolspan_declared_handlers", default=None)
_within: ContextVar[Path | None] = ContextVar("toolspan_handlers_within", default=None)


def declared() -> DeclaredHandlers | None:
    """What the modules that were read declare; ``None`` outside of ``reading_only``."""
    return _reading.get()


@contextmanager
def reading_only(within: Path | None = None) -> Generator[None]:
    """In the block no code of others is imported: ``read_handler_source`` reads what it would register. With
    ``within`` it reads files of that folder alone, and of all others nothing is known, not even whether they
    are there."""
    token, folder = _reading.set(DeclaredHandlers()), _within.set(within)
    try:
        yield
    finally:
        _reading.reset(token)
        _within.reset(folder)


def may_read(source: str, config_dir: Path) -> bool:
    """Whether the block that this is in reads what a config in ``config_dir`` names as ``source``."""
    folder = _within.get()
    if folder is None:
        return True
    if not source.endswith(".py") or "\0" in source:
        return False
    path, root = os.path.normpath(config_dir / source), os.path.normpath(folder)
    if not Path(path).is_relative_to(root):  # before anything is asked of the disk
        return False
    try:
        return Path(path).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a circle of links
        return False


def read_handler_source(source: str, config_dir: Path, text: bytes | None = None) -> None:
    """Read what a config names under ``handlers`` for what it declares; ``text`` is the content of the file
    if it was read before.

    Raises ``ImportError``, ``OSError``, ``SyntaxError`` or ``ValueError`` when it cannot be imported.
    """
    from ._source_scan import declarations

    known = _reading.get()
    assert known is not None, "only within reading_only"
    if not may_read(source, config_dir):
        known.is_all = False
        return
    found = declarations(source, config_dir, text)
    known.names |= found.names
    known.is_all = known.is_all and found.is_all
