"""The pattern of calls that an answer holds for, as a person writes it: ``ARGUMENT=GLOB``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....approvals import CallFiles, Pattern
from ....approvals.patterns import COMMAND_ARGUMENT, PATH_ARGUMENTS, RE2_PREFIX

_SAID_OF_THE_CALL = "description"
"""An argument in which the model says what the call is for: it tells nothing of what is done."""

_META, _ESCAPED = re.compile(r"[][\\^$.|?*+(){}]"), r"\\\g<0>"


def suggested(arguments: Mapping[str, Any], files: CallFiles) -> str:
    """A narrow pattern that the call is one of, to be widened: the folder of its path, its exact command, or
    the first of its texts or other plain values. Empty where no line of text says what the call is, and where
    a tool that is not ours has a path and other texts, of which no folder says enough."""
    for name in PATH_ARGUMENTS:
        if isinstance(path := arguments.get(name), str) and path and (real := files.real_path(path)):
            folder = _folder(real, files.folder)
            is_covered = Pattern(paths=(folder,)).covers("", "", arguments, files)
            return f"{name}={folder}" if is_covered else ""
    telling = {name: value for name, value in arguments.items() if name != _SAID_OF_THE_CALL} or arguments
    names = [COMMAND_ARGUMENT] if COMMAND_ARGUMENT in telling else list(telling)
    texts = {name: text for name in names if isinstance(text := telling[name], str) and _is_line(text)}
    plain = {name: json.dumps(telling[name]) for name in names if isinstance(telling[name], int | float)}
    found = texts or plain
    return next((f"{name}={_exactly(text)}" for name, text in found.items()), "")


def read_pattern(text: str) -> Pattern | None:
    """The pattern that ``text`` is; ``None`` if it is none."""
    name, equals, glob = text.strip().partition("=")
    if not name or not equals or not glob:
        return None
    return Pattern(paths=(glob,)) if name in PATH_ARGUMENTS else Pattern(arguments={name: glob})


def _is_line(text: str) -> bool:
    """Whether ``text`` comes back as it is from the line on which it is suggested."""
    return text.isprintable() and text == text.rstrip() and bool(text)


def _exactly(text: str) -> str:
    """A pattern of ``text`` and nothing else, also where it holds what a glob reads as any text."""
    if not {"*", "?"} & set(text) and not text.startswith(RE2_PREFIX):
        return text
    return f"{RE2_PREFIX}^{_META.sub(_ESCAPED, text)}$"


def _folder(found: str, base: Path) -> str:
    root = os.path.realpath(base)
    inside = found.startswith(root + os.sep)
    folder = str(Path(found).parent.relative_to(root) if inside else Path(found).parent)
    return "*" if folder == "." else f"{folder}/**"
