"""Performs and judges the leaderboard's conversations with its own programs, of its package ``bfcl_eval``.

Runs in a process of its own, with the Python that has the package: nothing of Toolspan is imported. Requests
and answers are JSON, one a line; an answer is ``{"error": text}`` where a request ends with one.

    {"do": "describe"}
        {"version", "steps", "added", "functions": {CLASS: [functions]}}
    {"do": "call", "case": CASE, "calls": [[name, {arguments}]]}
        {"results": [text]}
    {"do": "judge", "case": CASE, "turns": [[[[name, {arguments}]]]], "truth": [[text]]}
        {"valid", "kind", "message", "turn", "shown": [text]}

``CASE`` is ``{"id", "initial_config", "involved_classes"}``. The package evaluates calls as text: a call
whose name is no method of the case's classes, or one of whose arguments has no plain name, becomes
a text that can only fail, as it does there.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, cast

_CHECKS = "bfcl_eval.eval_checker.multi_turn_eval"
_FAILS = "no_such_function()"
_OWN = "toolspan"
_MEMORY = 4 << 30
_SHOWN = 400


def main() -> None:
    """Answer requests until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the programs print is no answer
    _limit_memory()
    performer = _Performer()
    for line in sys.stdin.buffer:
        try:
            answer = performer.answer(json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:_SHOWN]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _limit_memory() -> None:
    if sys.platform == "win32":
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = _MEMORY if hard == resource.RLIM_INFINITY else min(_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


class _Performer:
    def __init__(self) -> None:
        self._judged = 0
        self._utils: Any = importlib.import_module(f"{_CHECKS}.multi_turn_utils")
        self._checker: Any = importlib.import_module(f"{_CHECKS}.multi_turn_checker")
        self._classes: Any = importlib.import_module("bfcl_eval.constants.executable_backend_config")

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["do"] == "describe":
            return self._described()
        case = request["case"]
        methods = self._methods(case["involved_classes"])
        if request["do"] == "call":
            return {"results": self._called(case, [_text(each, methods) for each in request["calls"]])}
        turns = [[[_text(each, methods) for each in step] for step in turn] for turn in request["turns"]]
        return self._verdict(case, turns, request["truth"])

    def _described(self) -> dict[str, Any]:
        from importlib.metadata import version

        prompts: Any = importlib.import_module("bfcl_eval.constants.default_prompts")
        package: Any = importlib.import_module("bfcl_eval")
        folder = Path(package.__file__).parent / "data" / "multi_turn_func_doc"
        functions: dict[str, Any] = {}
        for name, file in self._classes.MULTI_TURN_FUNC_DOC_FILE_MAPPING.items():
            if not name.startswith(("Memory", "WebSearch")):
                lines = (folder / file).read_text(encoding="utf-8").splitlines()
                functions[name] = [json.loads(line) for line in lines if line.strip()]
        return {
            "version": version("bfcl_eval"),
            "steps": prompts.MAXIMUM_STEP_LIMIT,
            "added": prompts.DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC,
            "functions": functions,
        }

    def _methods(self, classes: list[str]) -> frozenset[str]:
        found: set[str] = set()
        for name in classes:
            module = importlib.import_module(self._classes.CLASS_FILE_PATH_MAPPING[name])
            found.update(each for each, _ in inspect.getmembers(getattr(module, name), inspect.isfunction))
        return frozenset(each for each in found if not each.startswith("_"))

    def _called(self, case: dict[str, Any], calls: list[str]) -> list[str]:
        results, _ = self._utils.execute_multi_turn_func_call(
            func_call_list=calls,
            initial_config=case["initial_config"],
            involved_classes=case["involved_classes"],
            model_name=_OWN,
            test_entry_id=case["id"],
            long_context=_is_long(case["id"]),
            is_evaL_run=False,
        )
        return list(results)

    def _verdict(
        self, case: dict[str, Any], turns: list[list[list[str]]], truth: list[list[str]]
    ) -> dict[str, Any]:
        self._judged += 1
        name = f"{_OWN}_judged_{self._judged}"
        try:
            found = self._checker.multi_turn_checker(turns, truth, case, "", name)
            return _told(found)
        finally:
            kept = cast("dict[str, Any]", vars(self._utils))
            for instance in [each for each in kept if each.startswith(name)]:
                del kept[instance]


def _is_long(case: str) -> bool:
    return "long_context" in case or "composite" in case


def _text(call: Any, methods: frozenset[str]) -> str:
    name, arguments = call
    if name not in methods or not all(key.isidentifier() for key in arguments):
        return _FAILS
    return f"{name}({','.join(f'{key}={value!r}' for key, value in arguments.items())})"


def _told(found: dict[str, Any]) -> dict[str, Any]:
    if found["valid"]:
        return {"valid": True, "kind": "", "message": "", "turn": None, "shown": []}
    details: dict[str, Any] = found.get("details", {})
    done = found.get("execution_result") or details.get("execution_result")
    named = re.search(r"for turn (\d+)", found["error_message"])
    turn = len(done) if done else int(named.group(1)) + 1 if named else None
    shown = [str(each)[:_SHOWN] for each in details.get("missing_items", ())]
    for attribute, values in details.get("differences", {}).items():
        made, wanted = repr(values["model"])[:_SHOWN], repr(values["ground_truth"])[:_SHOWN]
        shown.append(f"{attribute} is {made}, expected {wanted}")
    return {
        "valid": False,
        "kind": found["error_type"].partition(":")[2],
        "message": found["error_message"],
        "turn": turn,
        "shown": shown[:3],
    }


if __name__ == "__main__":
    main()
