"""Compares the state after each turn."""

from __future__ import annotations

from typing import Any

from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils import (  # type: ignore[import-not-found]  # as above
    execute_multi_turn_func_call,
)


def multi_turn_checker(
    turns: list[list[list[str]]], truth: list[list[str]], case: dict[str, Any], category: str, model: str
) -> dict[str, Any]:
    """The verdict."""

    def run(calls: list[str], name: str) -> Any:
        given = {key: case[key] for key in ("initial_config", "involved_classes")}
        named = {"model_name": name, "test_entry_id": case["id"], "long_context": False, "is_evaL_run": True}
        return execute_multi_turn_func_call(func_call_list=calls, **given, **named)[1]["Counter"].value

    done: list[Any] = []
    for number, accepted in enumerate(truth):
        made = run([call for step in turns[number] for call in step], model)
        wanted = run(accepted, f"{model}_truth")
        done.append(made)
        if accepted and not turns[number]:
            told = f"Model response list is empty for turn {number}"
            return {
                "valid": False,
                "error_message": told,
                "error_type": "multi_turn:empty_turn_model_response",
            }
        if accepted and made != wanted:
            return {
                "valid": False,
                "error_message": "Model instance for Counter does not match",
                "error_type": "multi_turn:instance_state_mismatch",
                "details": {"differences": {"value": {"model": made, "ground_truth": wanted}}},
                "execution_result": done,
            }
    return {"valid": True}
