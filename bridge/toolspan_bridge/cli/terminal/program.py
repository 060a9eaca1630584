"""How this program was started, for the commands that it prints."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

_PACKAGE = __name__.partition(".")[0]
_UV = "UV"
COMPLETION_VARIABLE = "_TOOLSPAN_COMPLETE"
"""By which a shell asks this program what a word may be."""


def usage_name() -> str:
    """The name for usage lines: ``toolspan``, or ``python -P -m toolspan_bridge`` where it was started so."""
    return f"python -P -m {_PACKAGE}" if _started_as_module() else "toolspan"


def command_line(*arguments: str) -> str:
    """``toolspan ARGUMENTS`` as it runs when it is pasted into the shell that this program was started from.

    The program is named as that shell finds it: by its name, by its path where it is not on ``PATH``, or by
    its interpreter.
    """
    started = Path(sys.argv[0])
    script = started if started.stem == "toolspan" else _script_of_interpreter()
    if _started_as_module() or not script.is_file():
        start = [_found(Path(sys.executable)), "-P", "-m", _PACKAGE]
    else:
        start = [_found(script)]
    words = [*start, *arguments]
    if sys.platform == "win32":
        from subprocess import list2cmdline

        return list2cmdline(words)
    return shlex.join(words)


def _started_as_module() -> bool:
    started = Path(sys.argv[0])
    return (started.parent.name, started.name) == (_PACKAGE, "__main__.py")


def _script_of_interpreter() -> Path:
    return Path(sys.executable).with_name("toolspan.exe" if sys.platform == "win32" else "toolspan")


def _found(path: Path) -> str:
    """``path`` as the shell finds it from here: a name on PATH, a path in this folder, or a whole one.

    ``uv run`` and ``uvx`` put it on PATH for this process alone, and tell so by a variable.
    """
    from shutil import which

    path, here = path.absolute(), Path.cwd()
    name = path.stem if sys.platform == "win32" else path.name
    on_path = None if os.environ.get(_UV) else which(name)
    if on_path is not None and Path(on_path).absolute() == path:
        return Path(on_path).stem if sys.platform == "win32" else path.name
    if path.parent == here or not path.is_relative_to(here):
        return str(path)
    return str(path.relative_to(here))
