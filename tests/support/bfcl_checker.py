"""The leaderboard's own checker: a program for a Python that has ``bfcl_eval``; it imports nothing of ours.

It prints the folder of the package's data, then for each line of stdin, in which ``case`` is a line of that
data, whether its answer is right:

    {"category", "case", "truth", "calls": [{NAME: {ARGUMENTS}}]}     of one turn
    {"category", "case", "truth", "turns": [[TEXT]]}                  of a conversation

An answer with which the checker itself ends with an error is none that is right.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any


class _AnyModel(dict[str, Any]):
    """The checker looks up whether a model writes ``_`` for the dots of names: none does. Its own table
    imports every provider's library."""

    def __missing__(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(underscore_to_dot=False)


def main() -> None:
    """Answer until stdin ends."""
    models: Any = ModuleType("bfcl_eval.constants.model_config")
    models.MODEL_CONFIG_MAPPING = _AnyModel()
    sys.modules[models.__name__] = models
    import bfcl_eval  # pyright: ignore[reportMissingImports]

    print(json.dumps(str(Path(bfcl_eval.__file__).parent / "data")), flush=True)
    for number, line in enumerate(sys.stdin):
        asked = json.loads(line)
        try:
            right = _conversed(asked, number) if "turns" in asked else _called(asked)
        except Exception:
            right = False
        print(json.dumps(right), flush=True)


def _called(asked: dict[str, Any]) -> bool:
    from bfcl_eval.constants.enums import Language  # pyright: ignore[reportMissingImports]
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # pyright: ignore[reportMissingImports]

    category = asked["category"]
    last = category.rpartition("_")[2]
    language = {"java": Language.JAVA, "javascript": Language.JAVASCRIPT}.get(last, Language.PYTHON)
    functions = asked["case"]["function"]
    return bool(ast_checker(functions, asked["calls"], asked["truth"], language, category, "any")["valid"])


def _conversed(asked: dict[str, Any], number: int) -> bool:
    from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import (  # pyright: ignore[reportMissingImports]
        multi_turn_checker,
    )

    turns = [[turn] for turn in asked["turns"]]
    model = f"answer_{number}"  # its programs are kept by this name
    return bool(multi_turn_checker(turns, asked["truth"], asked["case"], asked["category"], model)["valid"])


if __name__ == "__main__":
    main()
