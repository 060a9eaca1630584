"""``validate --answers`` scores recorded answers: no model is asked, and nothing is recorded."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.support.bfcl_files import function, write_answers, write_category
from tests.support.cli import Ran, toolspan, toolspan_process

pytestmark = [pytest.mark.requirement("I14.1.3")]

SUITE = """
name: sums
scenarios:
  - name: a sum
    query: What's 2+2?
    expect:
      calls: [{tool: calculate, arguments: {expression: "2+2"}}]
      answer: "4"
  - name: small talk
    query: Good morning!
    expect: {no_calls: true}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    file = tmp_path / "suite.yaml"
    file.write_text(SUITE)
    return file


def _verdicts(ran: Ran) -> dict[str, tuple[Any, str]]:
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert all(line.keys() == {"id", "success", "reason"} for line in lines)
    return {line["id"]: (line["success"], line["reason"]) for line in lines}


def _scored(folder: Path, suite: str, *lines: Any, arguments: tuple[str, ...] = ("--json",)) -> Ran:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    (folder / "answers.jsonl").write_text(text)
    return toolspan("validate", "--suite", suite, "--answers", "answers.jsonl", *arguments, cwd=folder)


RIGHT = {"id": "a sum", "calls": [{"name": "calculate", "arguments": {"expression": "2+2"}}], "answer": "4."}
QUIET = {"id": "small talk", "calls": [], "answer": "Hi."}


def test_each_answer_has_a_verdict_and_a_reason(tmp_path: Path, suite: Path) -> None:
    wrong = {"id": "small talk", "calls": [{"name": "calculate", "arguments": {}}]}
    ran = _scored(tmp_path, "suite.yaml", RIGHT, wrong)
    assert _verdicts(ran) == {
        "a sum": (True, ""),
        "small talk": (False, "no tool was to be called, but calculate was"),
    }
    assert ran.code == 6
    assert "1 of 2 are right (50.0 %)" in ran.err
    assert not (tmp_path / ".toolspan").exists()


def test_all_right_is_exit_0(tmp_path: Path, suite: Path) -> None:
    assert _scored(tmp_path, "suite.yaml", RIGHT, QUIET).code == 0
    people = _scored(tmp_path, "suite.yaml", RIGHT, QUIET, arguments=())
    assert (people.out, people.code) == ("", 0)


def test_an_id_without_an_answer_is_a_failure_and_said(tmp_path: Path, suite: Path) -> None:
    ran = _scored(tmp_path, "suite.yaml", QUIET, arguments=("--json", "--threshold", "0.5"))
    assert _verdicts(ran)["a sum"] == (False, "no answer is recorded for it")
    assert "1 ids have no answer" in ran.err
    assert ran.code == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "answers.jsonl:3: no JSON (each line is {"),
        ("[]", "answers.jsonl:3: no JSON object"),
        ('{"calls": []}', "answers.jsonl:3: 'id' must be a text"),
        ('{"id": "a sum"}', "answers.jsonl:3: neither 'calls' nor 'answer' is there"),
        ('{"id": "a sum", "calls": {}}', "answers.jsonl:3: 'calls' must be a list"),
        ('{"id": "a sum", "calls": [{}]}', "answers.jsonl:3: calls[0] must be an object with a 'name'"),
        ('{"id": "a sum", "answer": 4}', "answers.jsonl:3: 'answer' must be a text"),
        ('{"id": "a som", "calls": []}', "answers.jsonl:3: the suite 'sums' has no 'a som'"),
        (
            json.dumps(QUIET),
            "answers.jsonl:3: 'small talk' is there already, in line 2: only that one counts",
        ),
    ],
)
def test_a_line_at_fault_is_named_and_the_others_are_scored(
    tmp_path: Path, suite: Path, line: str, message: str
) -> None:
    ran = _scored(tmp_path, "suite.yaml", RIGHT, QUIET, line)
    assert message in ran.err
    assert _verdicts(ran) == {"a sum": (True, ""), "small talk": (True, "")}
    assert ran.code == 2


def test_of_many_lines_at_fault_the_rest_is_counted(tmp_path: Path, suite: Path) -> None:
    ran = _scored(tmp_path, "suite.yaml", *["{"] * 50)
    assert ran.err.count("no JSON") == 20
    assert "30 more lines are at fault" in ran.err


def test_arguments_that_are_no_object_are_a_failure_of_the_answer(tmp_path: Path, suite: Path) -> None:
    line = {"id": "a sum", "calls": [{"name": "calculate", "arguments": "2+2"}], "answer": "4"}
    success, reason = _verdicts(_scored(tmp_path, "suite.yaml", line, QUIET))["a sum"]
    assert not success
    assert "calculate" in reason


@pytest.mark.parametrize("option", [("-m", "offline/keyword"), ("--trials", "2"), ("--wordings",)])
def test_what_concerns_models_is_refused_beside_answers(
    tmp_path: Path, suite: Path, option: tuple[str, ...]
) -> None:
    ran = _scored(tmp_path, "suite.yaml", RIGHT, arguments=option)
    assert ran.code == 2
    assert "--answers asks no model: leave out everything but --suite, --threshold and --json" in ran.err


def test_a_file_that_is_not_there_is_said(tmp_path: Path, suite: Path) -> None:
    ran = toolspan("validate", "--suite", "suite.yaml", "--answers", "absent", cwd=tmp_path)
    assert (ran.code, "the answers absent cannot be read" in ran.err) == (2, True)


@pytest.mark.long
def test_answers_are_read_from_stdin_as_a_person_pipes_them(tmp_path: Path, suite: Path) -> None:
    text = "\n".join(json.dumps(line) for line in (RIGHT, QUIET))
    arguments = ("validate", "--suite", "suite.yaml", "--answers", "-", "--json")
    ran = toolspan_process(*arguments, cwd=tmp_path, stdin=text)
    assert (ran.code, len(_verdicts(ran))) == (0, 2)


@pytest.mark.requirement("I14.1.1", "I14.1.2")
def test_the_leaderboards_cases_are_scored_by_category(tmp_path: Path) -> None:
    f = function("math.add", ["x"], x="integer")
    write_category(tmp_path / "data", {"simple_python_0": ([f], [{"math.add": {"x": [1]}}])})
    write_category(tmp_path / "data", {"irrelevance_0": ([f], None), "irrelevance_1": ([f], None)})
    write_category(tmp_path / "data", {"multi_turn_base_0": ([], None)})
    calls = {
        "simple_python_0": [("math.add", {"x": 2})],
        "irrelevance_0": [],
        "irrelevance_1": [],
        "multi_turn_base_0": [],
    }
    write_answers(tmp_path / "answers.jsonl", calls)
    arguments = ("validate", "--suite", "bfcl:data", "--answers", "answers.jsonl")
    ran = toolspan(*arguments, "--json", cwd=tmp_path)
    verdicts = _verdicts(ran)
    assert verdicts["simple_python_0"] == (False, "argument 'x' was 2, expected one of [1]")
    assert verdicts["irrelevance_0"] == (True, "")
    assert verdicts["multi_turn_base_0"][0] is None
    assert "multi_turn_base is left out (1 cases)" in ran.err
    assert "2 of 3 are right" in ran.err
    table = toolspan(*arguments, cwd=tmp_path).out
    assert "✗ simple_python_0: argument 'x' was 2" in table
    assert "100.0 %" in table


@pytest.mark.requirement("I14.1.1")
def test_a_file_that_writes_underscores_for_dots_is_scored_so_and_it_is_said(tmp_path: Path) -> None:
    f = function("math.add", ["x"], x="integer")
    truth = [{"math.add": {"x": [1]}}]
    write_category(tmp_path / "data", {f"simple_python_{n}": ([f], truth) for n in range(3)})
    for name, right in (("math.add", 3), ("math_add", 3)):
        calls = {f"simple_python_{n}": [(name, {"x": 1})] for n in range(3)}
        write_answers(tmp_path / "answers.jsonl", calls)
        ran = toolspan(
            "validate", "--suite", "bfcl:data", "--answers", "answers.jsonl", "--json", cwd=tmp_path
        )
        assert f"{right} of 3 are right" in ran.err
        assert ("writes function names with _" in ran.err) == (name == "math_add")


@pytest.mark.long
def test_a_huge_file_is_read_line_by_line(tmp_path: Path, suite: Path) -> None:
    line = json.dumps({"id": "unknown", "answer": "x" * 1_000}) + "\n"
    file = tmp_path / "answers.jsonl"
    with file.open("w") as out:
        for _ in range(60_000):
            out.write(line)
    tracemalloc.start()
    ran = toolspan("validate", "--suite", "suite.yaml", "--answers", "answers.jsonl", "--json", cwd=tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "59,980 more lines are at fault" in ran.err
    assert peak < file.stat().st_size / 2


@pytest.mark.requirement("I14.1.6")
@pytest.mark.long
def test_a_model_is_asked_the_leaderboards_cases_without_a_config(tmp_path: Path) -> None:
    f = function("math.add", ["x"], x="integer")
    write_category(tmp_path / "data", {"live_relevance_0": ([f], None)})
    write_category(tmp_path / "data", {"simple_python_0": ([f], [{"math.add": {"x": [1]}}])})
    write_category(tmp_path / "data", {"multi_turn_base_0": ([], None)})
    ran = toolspan("validate", "--suite", "bfcl:data", "-m", "offline/keyword", "--json", cwd=tmp_path)
    assert ran.json["models"][0]["scenarios"][0]["scenario"] == "live_relevance_0"
    assert "multi_turn_base is left out" in ran.err
    assert (tmp_path / ".toolspan" / "validation.sqlite3").exists()


TALK = """
scenarios:
  - name: talk
    turns:
      - {query: a, expect: {calls: [{tool: find}]}}
      - {query: b, expect: {answer: "4"}}
"""
FOUND = {"calls": [{"name": "find", "arguments": {}}], "answer": "Found."}


@pytest.mark.requirement("I14.1.46")
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"turns": [FOUND, {"answer": "It is 4."}]}, ""),
        ({"turns": [FOUND, {"answer": "5"}]}, "turn 2 of 2: the answer does not contain '4' (it is '5')"),
        ({"turns": [FOUND]}, "turn 2 of 2: no answer is recorded for it"),
        ({"turns": [FOUND, FOUND, FOUND]}, "3 turns are recorded, but the scenario has 2"),
        (FOUND, "the scenario has 2 turns: its line needs 'turns'"),
    ],
)
def test_a_conversation_is_scored_turn_by_turn(tmp_path: Path, answer: dict[str, Any], reason: str) -> None:
    (tmp_path / "talk.yaml").write_text(TALK)
    ran = _scored(tmp_path, "talk.yaml", {"id": "talk", **answer})
    assert _verdicts(ran) == {"talk": (not reason, reason)}


@pytest.mark.requirement("I14.1.46")
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"turns": []}, "'turns' must be a list with an object for each turn"),
        ({"turns": [1]}, "turns[0] must be an object with 'calls' or 'answer'"),
        ({"turns": [FOUND, {}]}, "neither 'calls' nor 'answer' is there in turns[1]"),
        ({"turns": [{"calls": [{}]}]}, "turns[0].calls[0] must be an object with a 'name'"),
        ({"turns": [FOUND], "answer": "x"}, "'calls' and 'answer' stand in the turns, not beside them"),
    ],
)
def test_a_line_of_turns_that_is_no_answer_is_named(
    tmp_path: Path, answer: dict[str, Any], told: str
) -> None:
    (tmp_path / "talk.yaml").write_text(TALK)
    ran = _scored(tmp_path, "talk.yaml", {"id": "talk", **answer})
    assert ran.code == 2 and f"answers.jsonl:1: {told}" in ran.err


@pytest.mark.requirement("I14.1.46")
def test_turns_of_a_scenario_without_turns_are_no_answer_to_it(tmp_path: Path, suite: Path) -> None:
    ran = _scored(tmp_path, "suite.yaml", {"id": "a sum", "turns": [RIGHT]}, QUIET)
    reason = "the scenario has 1 turn: its line needs 'calls' and 'answer', without 'turns'"
    assert _verdicts(ran)["a sum"] == (False, reason)
