"""Compiled modules of folders that came from elsewhere: none that lies in such a folder is ever run.

A ``.pyc`` in ``__pycache__`` can say that it is not to be compared with its source (PEP 552), and its time
and size can be forged: it would run in place of the source that a person looked at. So this process and its
workers compile modules of a config's folder from their source, and Python programs that are started for a
found config keep what they compile in a folder of the user's own (``PYTHONPYCACHEPREFIX``).
"""

from __future__ import annotations

import errno
import os
import sys
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from types import CodeType

from typing_extensions import override

from ..state.private_files import close_folder, make_folder

_PACKAGES = frozenset(("site-packages", "dist-packages"))
_OWN = os.path.realpath(Path(__file__).parents[2])
_roots: list[str] = []
_elsewhere: str | None = None


def project_root(folder: Path) -> Path:
    """The folder that came as one: the repository that ``folder`` lies in, or else ``folder`` itself.

    A repository in the home folder is not taken: that is the user's own.
    """
    real = folder.resolve()
    for each in (real, *real.parents):
        if is_home(each):
            break
        if os.path.lexists(each / ".git"):
            return each
    return real


def is_home(folder: Path) -> bool:
    """Whether ``folder`` is the user's own, or the whole disk: nothing that came as one."""
    return folder == folder.parent or str(folder) == os.path.realpath(Path("~").expanduser())


def import_from_source(root: Path) -> None:
    """Have this process compile modules below ``root`` from their source, whenever they are imported from now
    on: what is compiled in ``__pycache__`` counts for nothing. Installed packages and ours are left alone."""
    real = os.path.realpath(root)
    if real in _roots:
        return
    if not _roots:
        sys.path_hooks.insert(0, _finder)
    _roots.append(real)
    for place in [place for place in sys.path_importer_cache if _is_covered(place)]:
        del sys.path_importer_cache[place]


def source_roots() -> list[str]:
    """The folders that ``import_from_source`` was called for: worker processes do the same."""
    return [*_roots]


def keep_bytecode_elsewhere() -> None:
    """Have servers that this process starts from now on keep compiled modules in a folder of the user's."""
    global _elsewhere
    if _elsewhere is None:
        try:
            _elsewhere = str(_private_cache())
        except (OSError, RuntimeError):
            _elsewhere = os.devnull  # below it nothing can be read or written: all is compiled each time


def bytecode_environment() -> dict[str, str]:
    """The variables for servers that this process starts: empty before ``keep_bytecode_elsewhere``."""
    return {} if _elsewhere is None else {"PYTHONPYCACHEPREFIX": _elsewhere}


class _FromSource(SourceFileLoader):
    @override
    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


def _finder(place: str) -> FileFinder:
    if not _is_covered(place):
        raise ImportError("not one of these folders", path=place)
    found = FileFinder(
        place,
        (ExtensionFileLoader, EXTENSION_SUFFIXES),
        (_FromSource, SOURCE_SUFFIXES),
        (SourcelessFileLoader, BYTECODE_SUFFIXES),
    )
    if not Path(place or ".").is_dir():
        raise ImportError("only folders are looked into", path=place)
    return found


def _is_covered(place: str) -> bool:
    real = os.path.realpath(place or ".")
    if not _PACKAGES.isdisjoint(Path(real).parts):
        return False
    installed = [os.path.realpath(each) for each in (sys.prefix, sys.base_prefix, _OWN)]
    return any(
        _is_below(real, root)
        and not any(_is_below(real, each) and not _is_below(root, each) for each in installed)
        for root in _roots
    )


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _private_cache() -> Path:
    """A folder that only this user can write to. Raises ``OSError``, or ``RuntimeError`` without a home."""
    cache = _user_cache().resolve()
    folder = cache / "toolspan" / "bytecode"
    make_folder(folder)
    for each in (folder.parent, folder):
        close_folder(each)
        found = each.stat()
        if sys.platform != "win32" and (found.st_uid != os.geteuid() or found.st_mode & 0o077):
            raise PermissionError(errno.EPERM, "it is another user's", str(each))
    return folder


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if Path(named := os.environ.get("XDG_CACHE_HOME", "")).is_absolute():
        return Path(named)
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
