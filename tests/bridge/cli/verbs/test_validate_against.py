"""``validate --against``: one suite over two versions of the tools' definitions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Ran, toolspan
from toolspan_bridge.validation import read_records

pytestmark = [pytest.mark.requirement("I14.3.31"), pytest.mark.long]

CONFIG = """\
tools:
  registry:
    - name: {name}
      description: {description}
      parameters: {{type: object, properties: {{{parameter}: {{type: string}}}}, required: [{parameter}]}}
      implementation: {{type: mock, response: sunny}}
"""
SUITE = """\
name: weather
scenarios:
  - name: paris
    query: What is the weather in Paris?
    expect: {calls: [{tool: lookup, arguments: {city: Paris}}]}
  - name: oslo
    query: What is the weather in Oslo?
    expect: {calls: [{tool: lookup, arguments: {city: Oslo}}]}
  - {name: thanks, query: "Thank you!", expect: {no_calls: true, never: [lookup]}}
"""
VAGUE, CLEAR = "Consults the service", "The weather in a city"


def place(folder: Path, file: str, description: str, name: str = "lookup", parameter: str = "city") -> None:
    (folder / file).write_text(CONFIG.format(name=name, description=description, parameter=parameter))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "suite.yaml").write_text(SUITE)
    place(tmp_path, "toolspan.yaml", VAGUE)
    place(tmp_path, "clear.yaml", CLEAR)
    return tmp_path


def compared(folder: Path, *words: str) -> Ran:
    return toolspan("validate", "--suite", "suite.yaml", "-m", "offline/keyword", *words, cwd=folder)


def test_the_difference_with_its_interval_and_test(folder: Path) -> None:
    ran = compared(folder, "--against", "clear.yaml", "--trials", "5", "--json")
    assert ran.code == 0, ran.err
    [found] = ran.json["differences"]
    whole = found["all"]
    assert (whole["before"]["successes"], whole["now"]["successes"], whole["n"]) == (5, 15, 15)
    assert whole["difference"] == pytest.approx(0.666667)
    low, high = whole["interval"]
    assert 0.2 < low < 0.67 < high < 1
    assert whole["p"] == pytest.approx(2 / 2**10) and whole["change"] == "better"
    assert [(cell["name"], cell["change"]) for cell in found["tools"]] == [("lookup", "better")]
    assert {cell["name"]: cell["n"] for cell in found["scenarios"]} == {"paris": 5, "oslo": 5, "thanks": 5}


def test_a_table_for_people_and_exit_6_for_the_worse(folder: Path) -> None:
    better = compared(folder, "--against", "clear.yaml", "--trials", "5")
    assert "better by more than chance: +66.7 points" in better.out and better.code == 0
    worse = compared(folder, "-c", "clear.yaml", "--against", "toolspan.yaml", "--trials", "5")
    assert "worse by more than chance: -66.7 points" in worse.out and worse.code == 6
    few = compared(folder, "-c", "clear.yaml", "--against", "toolspan.yaml")
    assert "no difference by more than chance: -66.7 points" in few.out and few.code == 0


def test_renamed_tools_and_parameters_are_the_same_by_a_mapping(folder: Path) -> None:
    place(folder, "renamed.yaml", CLEAR, name="get_weather", parameter="location")
    missing = compared(folder, "--against", "renamed.yaml")
    assert (
        missing.code == 2 and "renamed.yaml has no tool lookup" in missing.err and "--rename" in missing.err
    )
    words = ("--rename", "lookup=get_weather", "--rename", "lookup.city=location")
    ran = compared(folder, "--against", "renamed.yaml", *words, "--json")
    [found] = ran.json["differences"]
    assert found["all"]["now"]["successes"] == 3
    assert [cell["name"] for cell in found["tools"]] == ["lookup"]
    wrong = compared(folder, "--against", "renamed.yaml", "--rename", "lokup=x")
    assert wrong.code == 2 and "did you mean 'lookup'?" in wrong.err


def test_nothing_is_recorded_before_both_sides_can_be_run(folder: Path) -> None:
    assert compared(folder, "--against", "absent.yaml").code == 2
    place(folder, "other.yaml", CLEAR, name="other")
    assert compared(folder, "--against", "other.yaml").code == 2
    assert not (folder / ".toolspan" / "validation.sqlite3").exists()


def test_the_record_of_the_config_holds_afterwards(folder: Path) -> None:
    compared(folder, "--against", "clear.yaml")
    holding = [each for each in read_records(folder / ".toolspan" / "validation.sqlite3") if not each.changed]
    assert [(each.counts.n, each.counts.successes) for each in holding] == [(3, 1)]


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("--rename", "a=b"), "give that too"),
        (("--against", "clear.yaml", "--wordings"), "leave out"),
        (("--against", "clear.yaml", "--answers", "x"), "leave out"),
        (("--against", "clear.yaml", "--suite", "suite.yaml"), "name one --suite"),
    ],
)
def test_options_that_do_not_go_together(folder: Path, words: tuple[str, ...], fault: str) -> None:
    ran = compared(folder, *words)
    assert ran.code == 2 and fault in ran.err
