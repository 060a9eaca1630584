"""The pattern of calls that an answer holds for, as a person writes it: ``ARGUMENT=GLOB``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....approvals import Pattern
from ....approvals.patterns import COMMAND_ARGUMENT, PATH_ARGUMENTS


def suggested(arguments: Mapping[str, Any], base: Path) -> str:
    """A narrow pattern that the call is one of, to be widened: the folder of its path, its exact command, or
    its first text. Empty where there is none."""
    for name in PATH_ARGUMENTS:
        if isinstance(path := arguments.get(name), str) and path:
            return f"{name}={_folder(path, base)}"
    texts = {name: text for name, text in arguments.items() if isinstance(text, str) and "\n" not in text}
    name = COMMAND_ARGUMENT if COMMAND_ARGUMENT in texts else next(iter(texts), "")
    return f"{name}={texts[name]}" if name else ""


def read_pattern(text: str) -> Pattern | None:
    """The pattern that ``text`` is; ``None`` if it is none."""
    name, equals, glob = text.strip().partition("=")
    if not name or not equals or not glob:
        return None
    return Pattern(paths=(glob,)) if name in PATH_ARGUMENTS else Pattern(arguments={name: glob})


def _folder(path: str, base: Path) -> str:
    root, found = os.path.realpath(base), os.path.realpath(base / path)
    inside = found.startswith(root + os.sep)
    folder = str(Path(found).parent.relative_to(root) if inside else Path(found).parent)
    return "*" if folder == "." else f"{folder}/**"
