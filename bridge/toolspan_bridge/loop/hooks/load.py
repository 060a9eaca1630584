"""The hooks of a config, and those that installed packages bring."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

from toolspan_server.common.modules.bytecode import import_from_source, project_root
from toolspan_server.common.modules.text import MOST_OF_MODULE, run_text
from toolspan_server.common.regular_files import read_regular
from toolspan_server.config import Config

from ...errors import UsageError
from .contract import Hook, HookFunction

if TYPE_CHECKING:
    from toolspan_server.config import HookConfig

__all__ = ["GROUP", "hooks_of", "installed_hooks", "text_of"]

GROUP = "toolspan.hooks"
"""The group of entry points, each of which is a ``Hook``."""


def hooks_of(config: Config) -> tuple[Hook, ...]:
    """The hooks under ``hooks`` of ``config``, whose Python files are run as the config was loaded with
    them. Raises ``UsageError`` that names
    the one that cannot be used."""
    files: dict[str, ModuleType] = {}
    if config.hooks and config.files:
        import_from_source(project_root(config.directory))
    return tuple(_hook(config, entry, f"$.hooks[{place}]", files) for place, entry in enumerate(config.hooks))


def installed_hooks() -> tuple[Hook, ...]:
    """The hooks of installed packages. Raises ``UsageError`` for an entry point that is none."""
    if not _may_be_installed():
        return ()
    from importlib.metadata import entry_points

    found: list[Hook] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        hook = entry.load()
        if not isinstance(hook, Hook):
            raise UsageError(f"the entry point {entry.name} of {GROUP} ({entry.value}) is no Hook")
        found.append(replace(hook, package=entry.dist.name if entry.dist else entry.value))
    return tuple(found)


def _may_be_installed() -> bool:
    """Whether some installed package names the group: what reads all of them takes long to import."""
    folders = [Path(each) for each in sys.path if each]
    files = (file for folder in folders for file in folder.glob("*-info/entry_points.txt"))
    return any(GROUP in file.read_text("utf-8", "replace") for file in files)


def _hook(config: Config, entry: HookConfig, place: str, files: dict[str, ModuleType]) -> Hook:
    tools = None if entry.tools is None else tuple(entry.tools)
    name = entry.python or entry.tool or ""
    function = None if entry.python is None else _function(config, entry.python, place, files)
    return Hook(name, entry.point, function, entry.tool or "", tools, entry.timeout_seconds, entry.on_error)


def _function(config: Config, written: str, place: str, files: dict[str, ModuleType]) -> HookFunction:
    where, _, name = written.rpartition(":")
    try:
        if where.endswith(".py") and where not in files:
            files[where] = _file(config, where)
        function = getattr(files.get(where) or import_module(where), name)
    except Exception as error:
        raise UsageError(f"{place}.python: {written}: {type(error).__name__}: {error}") from None
    if not callable(function):
        raise UsageError(f"{place}.python: {written} is no function")
    return cast("HookFunction", function)


def _file(config: Config, where: str) -> ModuleType:
    path, text = text_of(config, where)
    return run_text(f"_toolspan_hook_{path.stem}", path, text)


def text_of(config: Config, where: str) -> tuple[Path, bytes]:
    """The path of a hooks' file and its text: the one that was looked at, for a config that was read from a
    file. Raises ``OSError``."""
    for original in config.originals:
        if where in original.hooks:
            return original.path.parent / where, original.hooks[where]
    path = config.directory / where
    return path, read_regular(path, MOST_OF_MODULE)
