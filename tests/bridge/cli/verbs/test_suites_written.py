"""``validate`` writes suites: made of tools, and taken from other programs' files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import toolspan, toolspan_process
from toolspan_bridge.validation import load_suite

CONFIG = """\
tools:
  registry:
    - name: get_weather
      description: Get current weather for a location
      parameters:
        type: object
        properties: {location: {type: string}, units: {enum: [celsius, kelvin], default: celsius}}
        required: [location]
      implementation: {type: mock, mock_response: {temperature: 18}}
    - name: calculate
      description: Evaluate a mathematical expression
      parameters:
        type: object
        properties: {expression: {type: string}}
        required: [expression]
      implementation: {type: builtin, handler: math_eval}
    - name: plan
      description: Plan a journey
      parameters:
        type: object
        properties: {legs: {type: object}}
        required: [legs]
      implementation: {type: mock, mock_response: {}}
"""
PROMPTFOO = """\
prompts: ["Weather in {{city}}?"]
tests:
  - vars: {city: Oslo}
    assert:
      - {type: "trajectory:tool-used", value: get_weather}
      - type: javascript
        value: output.length > 5
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "promptfooconfig.yaml").write_text(PROMPTFOO)
    return tmp_path


@pytest.mark.long
@pytest.mark.requirement("I14.1.60")
@pytest.mark.requirement("I14.1.63")
def test_a_suite_made_of_a_configs_tools_is_written_and_run(place: Path) -> None:
    done = toolspan("validate", "--generate", "made.yaml", "--seed", "4", cwd=place)
    (first, *_) = (place / "made.yaml").read_text().splitlines()
    schema = json.loads((place / first.partition("$schema=")[2]).read_text())
    assert "scenarios" in schema["properties"], "an editor finds the schema by the first line"
    assert done.code == 0, done.err
    assert "selection          2" in done.out
    assert "left out: plan (selection): 'legs' is an object of which the schema says nothing" in done.err
    assert "validate --suite made.yaml" in done.err
    count = len(load_suite(place / "made.yaml").scenarios)
    assert f"made.yaml was written: {count} scenarios" in done.err
    ran = toolspan("validate", "--suite", "made.yaml", "--json", cwd=place)
    assert ran.code in (0, 6), ran.err
    assert len(ran.json["models"][0]["scenarios"]) == count


@pytest.mark.requirement("I14.1.63")
def test_an_edited_suite_is_written_over_only_by_force(place: Path) -> None:
    write = ("validate", "--generate", "made.yaml")
    assert toolspan(*write, cwd=place).code == 0
    before = (place / "made.yaml").read_text()
    assert toolspan(*write, "--seed", "2", cwd=place).code == 0
    assert (place / "made.yaml").read_text() != before
    edited = (place / "made.yaml").read_text() + "# mine\n"
    (place / "made.yaml").write_text(edited)
    refused = toolspan(*write, cwd=place)
    assert (refused.code, (place / "made.yaml").read_text()) == (2, edited)
    assert "was edited" in refused.err
    assert toolspan(*write, "--force", cwd=place).code == 0
    assert (place / "made.yaml").read_text() == before


@pytest.mark.long
@pytest.mark.requirement("I14.1.61")
def test_every_process_writes_the_same_bytes(place: Path) -> None:
    texts = {
        toolspan_process("validate", "--generate", "-", cwd=place, PYTHONHASHSEED=seed).out for seed in "123"
    }
    assert len(texts) == 1
    assert texts.pop().startswith("# ")


@pytest.mark.requirement("I14.1.63")
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--seed", "2"), "add --generate"),
        (("--generate-with", "a/b"), "add --generate"),
        (("--force",), "add --generate or --write-suite"),
        (("--generate", "x.yaml", "--suite", "y.yaml"), "leave out --suite"),
        (("--generate", "x.yaml", "--model", "a/b"), "--model is of a run"),
        (("--generate", "x.yaml", "--trials", "3"), "--trials is of a run"),
        (("--generate", "x.yaml", "--record"), "--record or --replay is of a run"),
        (("--generate", "x.yaml", "--against", "y.yaml"), "--against, --rename or --suggest is of a run"),
        (("--generate", "-o", "x.yaml"), "that of a suite comes after its option: --generate x.yaml"),
        (("--generate", "none/x.yaml"), "its folder is not there"),
        (("--write-suite", "x.yaml"), "--suite promptfoo:FILE"),
        (("--write-suite", "x.yaml", "--suite", "promptfoo:none.yaml"), "none.yaml"),
        (("--suite", "inspect:promptfooconfig.yaml"), "no JSON"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments: tuple[str, ...], why: str, place: Path) -> None:
    done = toolspan("validate", *arguments, cwd=place)
    assert (done.code, why in done.err) == (2, True), done.err
    assert not (place / "x.yaml").exists()


@pytest.mark.long
@pytest.mark.requirement("I14.1.64")
def test_a_models_words_are_asked_for_only_by_name_and_what_stays_is_said(place: Path) -> None:
    (place / "turns.yaml").write_text("turns: [{text: Do something nice.}]")
    written = ("validate", "--generate", "made.yaml")
    plain = toolspan(*written, cwd=place)
    assert "plain query" not in plain.err
    before = (place / "made.yaml").read_text()
    done = toolspan(*written, "--generate-with", "scripted/turns.yaml", cwd=place)
    assert done.code == 0, done.err
    assert "selection: calculate: the plain query stays: " in done.err
    assert (place / "made.yaml").read_text() == before
    nobody = toolspan(*written, "--generate-with", "nobody/x", cwd=place)
    assert (nobody.code, (place / "made.yaml").read_text()) == (2, before)


@pytest.mark.long
@pytest.mark.requirement("I14.1.70")
def test_another_programs_suite_is_run_and_written_as_ours(place: Path) -> None:
    ran = toolspan("validate", "--suite", "promptfoo:promptfooconfig.yaml", "--json", cwd=place)
    assert ran.code == 0, ran.err
    assert "promptfooconfig.yaml:6:9: left out: javascript: code is not run" in ran.err
    name = "promptfoo:promptfooconfig.yaml"
    done = toolspan("validate", "--suite", name, "--write-suite", "ours.yaml", cwd=place)
    assert done.code == 0, done.err
    assert "ours.yaml was written: 1 scenario" in done.err
    (scenario,) = load_suite(place / "ours.yaml").scenarios
    assert scenario.query == "Weather in Oslo?"
    answers = place / "answers.jsonl"
    answers.write_text(
        json.dumps({"id": scenario.title, "calls": [{"name": "get_weather", "arguments": {}}]})
    )
    scored = toolspan("validate", "--suite", name, "--answers", "answers.jsonl", cwd=place)
    assert scored.code == 0, scored.err
