"""Other files in the config's manner: checked against any model, with the same messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, Field

from toolspan_server import ConfigError
from toolspan_server.config import load_document


class Step(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str = Field(max_length=10)
    trials: int = Field(default=1, ge=1, le=9)
    weight: float = Field(default=1, gt=0)


class Suite(BaseModel):
    model_config = ConfigDict(extra="forbid")

    scenarios: list[Step]


def said(folder: Path, text: str) -> list[str]:
    (folder / "suite.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_document(folder / "suite.yaml", Suite)
    return [str(problem).removeprefix(f"{folder}/") for problem in caught.value.problems]


def test_a_document_is_read_as_its_model_and_variables_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "suite.json").write_text('{"scenarios": [{"query": "${HOME}"}]}')
    suite = load_document(tmp_path / "suite.json", Suite)
    assert suite.scenarios[0].query == "${HOME}"


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("{query: a, trials: 1.5}", "1:32: $.scenarios[0].trials: must be an integer from 1 to 9, not 1.5"),
        ("{query: a, trials: 10}", "1:32: $.scenarios[0].trials: must be an integer from 1 to 9, not 10"),
        (f"{{query: a, trials: {'9' * 99}}}", "must be an integer from 1 to 9, not a huge integer"),
        ("{query: a, weight: heavy}", "1:32: $.scenarios[0].weight: must be a number, not 'heavy'"),
        (
            "{query: far too long a text}",
            "1:21: $.scenarios[0].query: is longer than 10 characters (shorten it)",
        ),
        (
            "{query: a, trails: 2}",
            "1:24: $.scenarios[0].trails: unknown key 'trails' (did you mean 'trials'?)",
        ),
        ("{query: a, query: b}", "1:24: $.scenarios[0].query: key 'query' stands here twice"),
        ("{}", "1:13: $.scenarios[0]: 'query' is missing (add query)"),
    ],
)
def test_a_fault_is_told_as_in_a_config(tmp_path: Path, step: str, expected: str) -> None:
    (line,) = said(tmp_path, f"scenarios: [{step}]")
    assert expected in line


def test_all_faults_come_in_file_order(tmp_path: Path) -> None:
    lines = said(tmp_path, "scenarios:\n  - {trials: 0}\n  - {query: a, query: b}\nextra: 1\n")
    assert [line.split(":")[1] for line in lines] == ["2", "2", "3", "4"]
