"""Evaluates calls as text, on instances that are kept among the module's names."""

from __future__ import annotations

import json
from typing import Any

from bfcl_eval.counter import Counter  # type: ignore[import-not-found]  # found by the Python that has it


def execute_multi_turn_func_call(
    *,
    func_call_list: list[str],
    initial_config: dict[str, Any],
    involved_classes: list[str],
    model_name: str,
    test_entry_id: str,
    long_context: bool,
    is_evaL_run: bool,
) -> tuple[list[str], dict[str, Any]]:
    """The results of the calls, and the instances."""
    name = f"{model_name}_{test_entry_id}_{is_evaL_run}_instance"
    if name not in globals():
        globals()[name] = Counter()
        globals()[name]._load_scenario(initial_config["Counter"])
    counter = globals()[name]
    results: list[str] = []
    for call in func_call_list:
        try:
            results.append(json.dumps(eval(f"counter.{call}", {"counter": counter})))
        except Exception as error:
            results.append(f"Error during execution: {error}")
    return results, {"Counter": counter}
