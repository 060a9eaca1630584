"""Suites are read from YAML or JSON, and every mistake in one is told at once, with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.support.trials import given, made
from toolspan_bridge import ToolSpec
from toolspan_bridge.events import Answer
from toolspan_bridge.validation import (
    Suite,
    default_suite,
    judge,
    load_suite,
)
from toolspan_server.errors import ConfigError

pytestmark = pytest.mark.requirement("I2.7.1")

SUITE = """
name: tickets
scenarios:
  - name: opens a ticket
    query: Printer 3 is on fire
    expect:
      calls:
        - tool: create_ticket
          arguments:
            priority: {one_of: [high, urgent]}
            room: 3
      never: [delete_ticket]
      answer: [ticket, {matches: '#\\d+'}]
  - query: Thank you!
    expect:
      no_calls: true
"""


def _write(folder: Path, text: str, name: str = "suite.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def _problems(folder: Path, text: str) -> list[str]:
    path = _write(folder, text)
    with pytest.raises(ConfigError) as found:
        load_suite(path)
    return [str(problem).replace(str(path), "suite.yaml") for problem in found.value.problems]


def _problem(folder: Path, expect: str) -> str:
    (problem,) = _problems(folder, f"scenarios:\n  - query: q\n    expect: {expect}\n")
    return problem


def test_a_suite_is_read_whole(tmp_path: Path) -> None:
    suite = load_suite(_write(tmp_path, SUITE))

    opens, thanks = suite.scenarios
    assert (suite.name, opens.title, thanks.title) == ("tickets", "opens a ticket", "Thank you!")
    assert opens.expect.calls[0].tool == "create_ticket"
    assert opens.expect.calls[0].arguments == {"priority": {"one_of": ["high", "urgent"]}, "room": 3}
    assert opens.expect.never == ("delete_ticket",)
    assert [str(rule) for rule in opens.expect.answer] == ["contain 'ticket'", r"match '#\\d+'"]
    assert thanks.expect.no_calls


def test_json_says_the_same_as_yaml(tmp_path: Path) -> None:
    from_json = load_suite(_write(tmp_path, json.dumps(yaml.safe_load(SUITE)), "suite.json"))
    assert from_json == load_suite(_write(tmp_path, SUITE))


def test_a_suite_without_a_name_is_named_after_its_file(tmp_path: Path) -> None:
    path = _write(tmp_path, "scenarios: [{query: q, expect: {no_calls: true}}]", "smoke.yaml")
    assert load_suite(path).name == "smoke"


def test_every_mistake_is_told_at_once_with_its_place(tmp_path: Path) -> None:
    problems = _problems(
        tmp_path,
        "scenarios:\n"
        "  - query: q\n"
        "    expect: {no_call: true}\n"
        "  - name: no question\n"
        "    expect: {calls: [{tol: x}]}\n",
    )
    assert [problem.partition(": ")[0] for problem in problems] == [
        "suite.yaml:3:14",
        "suite.yaml:4:5",
        "suite.yaml:5:22",
        "suite.yaml:5:23",
    ]
    assert problems[0] == (
        "suite.yaml:3:14: $.scenarios[0].expect.no_call: unknown key 'no_call' (did you mean 'no_calls'?)"
    )
    assert "$.scenarios[1]: 'query' is missing" in problems[1]
    assert any("unknown key 'tol' (did you mean 'tool'?)" in problem for problem in problems)


@pytest.mark.parametrize(
    ("expect", "told"),
    [
        ("{}", "$.scenarios[0].expect: nothing is expected (give at least one of calls, no_calls: true"),
        ("{no_calls: false}", "nothing is expected"),
        ("{no_calls: true, calls: [{tool: a}]}", "no_calls and calls contradict each other"),
        ("{calls: [{tool: a}], never: [a, b]}", "a is both expected and never to be called"),
        ("{answer: 4}", "$.scenarios[0].expect.answer: a string, {contains: …}, {matches: …}, {number: …}"),
        ("{answer: []}", "at least one alternative is needed"),
        ("{answer: ''}", "contains needs a text that is not empty"),
        ("{answer: {matches: '(a'}}", "'(a' is not a valid RE2 pattern: missing ): (a"),
        ("{answer: {matches: '(?=a)'}}", "is not a valid RE2 pattern"),
        ("{calls: [{tool: a, arguments: {x: {matches: '['}}}]}", "x: '[' is not a valid RE2 pattern"),
        ("{calls: [{tool: a, arguments: {x: {one_of: 3}}}]}", "x: one_of needs a list of at least one value"),
        ("{calls: [{tool: a, arguments: {x: [{contains: 3}]}}]}", "x: contains needs a text"),
        ("{calls: a}", "$.scenarios[0].expect.calls: must be a list, not 'a'"),
    ],
)
def test_an_expectation_that_means_nothing_is_refused(tmp_path: Path, expect: str, told: str) -> None:
    problem = _problem(tmp_path, expect)
    assert problem.startswith("suite.yaml:3:")
    assert told in problem


def test_a_suite_without_scenarios_is_refused(tmp_path: Path) -> None:
    assert _problems(tmp_path, "scenarios: []\n") == [
        "suite.yaml:1:1: $: no scenarios (give at least one, with query and expect)"
    ]


def test_two_scenarios_of_one_name_are_refused(tmp_path: Path) -> None:
    scenario = "{query: q, expect: {no_calls: true}}"
    (problem,) = _problems(tmp_path, f"scenarios: [{scenario}, {scenario}]\n")
    assert "several scenarios are called 'q' (give each a name of its own)" in problem


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: there is no such file"):
        load_suite(tmp_path / "none.yaml")


def test_the_tools_that_a_suite_names_but_no_server_offers_are_found(tmp_path: Path) -> None:
    suite = load_suite(_write(tmp_path, SUITE))
    create, delete = (ToolSpec("s", name, "", {}) for name in ("create_ticket", "delete_ticket"))
    assert suite.missing_tools([delete]) == ("create_ticket",)
    assert suite.missing_tools([create]) == ("delete_ticket",), "it is never to be called"
    assert suite.missing_tools([create, delete]) == ()


def test_a_suite_made_in_code_is_checked_like_a_file() -> None:
    with pytest.raises(ValueError, match="nothing is expected"):
        Suite.model_validate({"scenarios": [{"query": "q", "expect": {}}]})


ASKED = [
    "What's the weather in Paris?",
    "Calculate 15% tip on $45",
    "What's 2+2?",
    "Search for Python decorators in the docs",
]


def test_the_default_suite_asks_the_four_known_questions() -> None:
    suite = default_suite()
    assert suite.name == "default"
    assert [scenario.query for scenario in suite.scenarios] == ASKED


def _succeeds(query: str, answer: Answer) -> bool:
    (scenario,) = (one for one in default_suite().scenarios if one.query == query)
    return judge(scenario.expect, answer).success


@pytest.mark.parametrize(
    ("query", "good", "bad"),
    [
        (
            ASKED[0],
            given("22 °C", [made("get_weather", {"location": "Paris, France"})]),
            given("22 °C in Paris", [made("get_weather", {"location": "London"})]),
        ),
        (
            ASKED[1],
            given("The tip is $6.75.", [made("calculate", {"expression": "45*0.15"})]),
            given("The tip is $16.75.", [made("calculate", {"expression": "45*0.15+10"})]),
        ),
        (ASKED[1], given("6.750", [made("calculate")]), given("$6.75")),
        (ASKED[2], given("2+2 is 4."), given("2+2 is 42.")),
        (
            ASKED[2],
            given("Four.", [made("calculate", {"expression": "2+2"})]),
            given("4", [made("get_weather")]),
        ),
        (
            ASKED[3],
            given("See …", [made("search_documents", {"query": "Python decorators"})]),
            given("A decorator is a function that …"),
        ),
    ],
)
def test_the_default_suite_tells_good_answers_from_bad_ones(query: str, good: Answer, bad: Answer) -> None:
    assert _succeeds(query, good)
    assert not _succeeds(query, bad)
