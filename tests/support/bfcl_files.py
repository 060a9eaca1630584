"""Files in the shape of the Berkeley Function-Calling Leaderboard's, made by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def function(name: str, required: Sequence[str] = (), **properties: Any) -> dict[str, Any]:
    """A function as BFCL writes them; each property is a type's name or a whole schema."""
    shown = {key: {"type": kind} if isinstance(kind, str) else kind for key, kind in properties.items()}
    parameters = {"type": "dict", "properties": shown, "required": list(required)}
    return {"name": name, "description": f"Does {name}.", "parameters": parameters}


def case(name: str, functions: Sequence[Mapping[str, Any]], question: str = "Do it.") -> dict[str, Any]:
    """A line of a category's file."""
    return {
        "id": name,
        "question": [[{"role": "user", "content": question}]],
        "function": list(functions),
    }


def write_category(folder: Path, lines: Mapping[str, tuple[Sequence[Mapping[str, Any]], Any]]) -> Path:
    """The file of the one category whose cases are ``lines``: by id, the functions, and what is accepted or
    ``None``. Gives the file."""
    category = next(iter(lines)).rsplit("_", 1)[0]
    file = folder / f"BFCL_v4_{category}.json"
    folder.mkdir(exist_ok=True, parents=True)
    file.write_text("\n".join(json.dumps(case(name, given[0])) for name, given in lines.items()))
    truths = {name: given[1] for name, given in lines.items() if given[1] is not None}
    if truths:
        (folder / "possible_answer").mkdir(exist_ok=True)
        text = "\n".join(json.dumps({"id": name, "ground_truth": each}) for name, each in truths.items())
        (folder / "possible_answer" / file.name).write_text(text)
    return file


def write_answers(file: Path, calls: Mapping[str, Sequence[tuple[str, Any]]]) -> Path:
    """A file of recorded answers: by id, the names and arguments of the calls."""
    lines = (
        {"id": name, "calls": [{"name": called, "arguments": arguments} for called, arguments in made]}
        for name, made in calls.items()
    )
    file.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    return file
