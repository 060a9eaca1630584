"""The JSON Schema of suites is that of the models, and the example suites are what they say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema_rs import Draft202012Validator

from tests.support.cli import toolspan
from toolspan_bridge.validation import load_suite
from toolspan_bridge.validation.expectations.arguments.comparing import ABSENT, FORMS
from toolspan_bridge.validation.suites.form_schemas import ARGUMENT_FORMS
from toolspan_bridge.validation.suites.published_schema import suite_schema, suite_schema_text
from toolspan_server.errors import ConfigError

ROOT = Path(__file__).parents[4]
SCHEMA = ROOT / "configs" / "toolspan.suite.schema.json"
EXAMPLES = ROOT / "examples" / "suites"
SUITES = sorted(path for path in EXAMPLES.glob("*.yaml") if "scenarios:" in path.read_text("utf-8"))

pytestmark = pytest.mark.requirement("I14.1.47")


def is_valid(data: Any) -> bool:
    return Draft202012Validator(suite_schema(), validate_formats=True, offline=True).is_valid(data)


def test_the_published_schema_is_fresh() -> None:
    assert SCHEMA.read_text("utf-8") == suite_schema_text(), "run make reference"


def test_every_form_of_an_argument_is_in_the_schema() -> None:
    assert set(ARGUMENT_FORMS) == {*FORMS, ABSENT}


def test_every_key_says_what_it_is_and_those_of_scenarios_give_an_example() -> None:
    definitions = suite_schema()["$defs"]
    ours = [name for name in definitions if not name.startswith("Mock")]
    for name in ours:
        for key, each in definitions[name]["properties"].items():
            assert each.get("description"), f"{name}.{key}"
    keys = definitions["Scenario"]["properties"]
    assert [key for key, each in keys.items() if "examples" not in each] == ["expect"]


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_an_example_fits_the_schema_and_names_it(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith("# yaml-language-server: $schema=../../configs/toolspan.suite.schema.json\n")
    assert is_valid(yaml.safe_load(text))
    assert load_suite(path).scenarios


@pytest.mark.parametrize(
    "scenario",
    [
        {"query": "q"},
        {"query": "q", "expect": {"no_calls": True}, "turns": [{"query": "q", "expect": {"no_calls": True}}]},
        {"turns": []},
        {"query": "q", "expect": {"no_calls": True}, "weight": 0},
        {"query": "q", "expect": {"no_call": True}},
        {"query": "q", "expect": {"no_calls": True}, "mocks": {"a": {"respons": 1}}},
        {"query": "q", "expect": {"no_calls": True}, "approvals": {"a": "maybe"}},
        {"query": "q", "expect": {"no_calls": True}, "elicitations": {"a": {"accept": 1}}},
        {"query": "q", "expect": {"answer": {"nummer": 1}}},
    ],
)
def test_what_a_suite_refuses_the_schema_refuses(tmp_path: Path, scenario: dict[str, Any]) -> None:
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"scenarios": [scenario]}))
    assert not is_valid(json.loads(path.read_text()))
    with pytest.raises(ConfigError):
        load_suite(path)


@pytest.mark.long
@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_a_script_that_does_what_an_example_expects_succeeds(tmp_path: Path, path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    ran = toolspan("validate", "--suite", path.name, "-m", "scripted/perfect.yaml", "--json", cwd=tmp_path)
    assert ran.code == 0, ran.err
    (model,) = json.loads(ran.out)["models"]
    assert (model["rate"], model["error_count"]) == (1, 0)
