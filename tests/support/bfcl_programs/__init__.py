"""A package in the place of the leaderboard's own (``bfcl_eval``): its names, with one class of programs, a
counter, and the same rules for verdicts. ``install`` makes a Python that has it."""

from __future__ import annotations

import json
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import copytree
from typing import Any

_PACKAGE = Path(__file__).with_name("package")


def install(folder: Path) -> str:
    """The Python of a new environment in ``folder`` that has the package, version 1.0."""
    venv.create(folder, with_pip=False, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / version / "site-packages"
    copytree(_PACKAGE, packages, dirs_exist_ok=True)
    return str(folder / "bin" / "python")


def conversation(
    name: str, turns: Sequence[str | None], *, start: int = 0, missed: Mapping[str, list[str]] | None = None
) -> dict[str, Any]:
    """A line of a ``multi_turn_*`` file about one counter; a turn without words is ``None``."""
    said = [[] if turn is None else [{"role": "user", "content": turn}] for turn in turns]
    line: dict[str, Any] = {
        "id": name,
        "question": said,
        "initial_config": {"Counter": {"value": start}},
        "involved_classes": ["Counter"],
    }
    return line | ({"missed_function": missed} if missed else {})


def write_conversations(
    folder: Path, lines: Sequence[Mapping[str, Any]], accepted: Sequence[Sequence[Sequence[str]]]
) -> Path:
    """The file of the one category of ``lines``, with the ``accepted`` calls of each beside it."""
    file = folder / f"BFCL_v4_{str(lines[0]['id']).rpartition('_')[0]}.json"
    (folder / "possible_answer").mkdir(exist_ok=True, parents=True)
    file.write_text("\n".join(map(json.dumps, lines)))
    truths = [{"id": line["id"], "ground_truth": each} for line, each in zip(lines, accepted, strict=True)]
    (folder / "possible_answer" / file.name).write_text("\n".join(map(json.dumps, truths)))
    return file
