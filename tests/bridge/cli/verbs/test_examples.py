"""``toolspan check --run-examples``: the examples of tools, called on a real server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Ran, toolspan
from toolspan_bridge.cli.examples import differences

pytestmark = pytest.mark.requirement("I4.2.10")

CONFIG = """
tools:
  registry:
    - name: calculate
      description: Calculate
      parameters:
        type: object
        properties: {expression: {type: string}}
        required: [expression]
      implementation: {type: builtin, handler: math_eval}
      examples:
        - {description: a sum, arguments: {expression: 1 + 2}, result_matches: {result: 3}}
        - {arguments: {expression: 1 / 0}, error: zero}
        - {arguments: {}, error: invalid_parameters}
        - {arguments: {expression: 2 * 2}}
    - name: weather
      description: The weather
      implementation: {type: mock, mock_response: {days: [{temperature: 3}, {temperature: 4}]}}
      examples:
        - {result: {days: [{temperature: 3}, {temperature: 4}]}}
        - {result: {days: [{temperature: 3}, {temperature: 5}]}}
        - {result_matches: {days: [{}, {wind: 1}]}}
        - {error: gone}
    - name: delete
      description: Delete
      approval: true
      implementation: {type: mock, mock_response: 1}
      examples:
        - {result: 1}
        - {error: approval_required}
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("examples")
    (folder / "toolspan.yaml").write_text(CONFIG)
    return toolspan("check", "--run-examples", "--json", cwd=folder)


def test_examples_that_give_something_else_are_told_and_exit_5(checked: Ran) -> None:
    assert checked.code == 5
    assert checked.json["ok"] is False
    told = {(each["tool"], each["number"]): (each["ok"], each["reason"]) for each in checked.json["examples"]}
    assert told == {
        ("calculate", 1): (True, ""),
        ("calculate", 2): (True, ""),
        ("calculate", 3): (True, ""),
        ("calculate", 4): (True, ""),
        ("weather", 1): (True, ""),
        ("weather", 2): (False, "result.days[1].temperature is 4, not 5"),
        ("weather", 3): (False, "result.days[1] has no 'wind'"),
        ("weather", 4): (False, "succeeded, but should fail with 'gone'"),
        ("delete", 1): (None, "each call needs a person's approval"),
        ("delete", 2): (True, ""),
    }


def test_people_are_told_one_example_a_line_and_right_ones_exit_0(tmp_path: Path) -> None:
    right = CONFIG[: CONFIG.index("    - name: weather")]
    (tmp_path / "toolspan.yaml").write_text(right)
    ran = toolspan("check", "--run-examples", cwd=tmp_path)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert "calculate, example 1 (a sum): ok" in lines
    assert lines[-1] == "4 of 4 examples are right"
    shown = toolspan("tools", "show", "calculate", cwd=tmp_path).out
    assert "Example 2:" in shown
    assert '"expression": "1 / 0"' in shown


def test_without_the_option_nothing_is_called(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    ran = toolspan("check", "--json", cwd=tmp_path)
    assert (ran.code, "examples" in ran.json) == (0, False)


@pytest.mark.parametrize(
    ("wanted", "given", "whole", "told"),
    [
        ({"a": 1}, {"a": 1.0}, True, []),
        ({"a": 1}, {"a": True}, True, ["result.a is true, not 1"]),
        ({"a": 1}, {"a": 1, "b": 2}, True, ["result also has 'b'"]),
        ({"a": 1}, {"a": 1, "b": 2}, False, []),
        ([1, 2], [1], False, ["result has 1 items, not 2"]),
        (None, {}, False, ["result is {}, not null"]),
        ([], "text", True, ['result is "text", not []']),
    ],
)
def test_results_are_compared_as_json(wanted: Any, given: Any, whole: bool, told: list[str]) -> None:
    assert list(differences(wanted, given, whole=whole)) == told
