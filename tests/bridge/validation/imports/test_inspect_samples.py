"""What is taken of Inspect's datasets, and what is listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.trials import given
from toolspan_bridge import UsageError
from toolspan_bridge.validation import judge
from toolspan_bridge.validation.imports import load_imported
from toolspan_server import ConfigError

pytestmark = pytest.mark.requirement("I14.1.72")

SAMPLES: list[dict[str, Any]] = [
    {"input": "What is the capital of Norway?", "target": "Oslo", "id": "norway"},
    {"input": [{"role": "user", "content": "Two plus two?"}], "target": ["4", "four"]},
    {"input": "Which?", "target": "A", "choices": ["x", "y"]},
    {"input": [{"role": "system", "content": "Be kind"}, {"role": "user", "content": "Hi"}], "target": "Hi"},
    {"input": "No target"},
    {"input": "Run it", "target": "ok", "sandbox": "docker"},
]


@pytest.mark.parametrize("lines", [True, False])
def test_samples_are_taken_from_json_and_from_json_lines(lines: bool, tmp_path: Path) -> None:
    path = tmp_path / "samples.json"
    path.write_text("\n".join(map(json.dumps, SAMPLES)) if lines else json.dumps(SAMPLES, indent=1))
    found = load_imported("inspect", path)
    assert [(each.name, each.query) for each in found.suite.scenarios] == [
        ("norway", "What is the capital of Norway?"),
        ("sample 2", "Two plus two?"),
    ]
    assert len(found.left_out) == 4
    assert "names no scorer" in found.notes[0]
    assert all(each.place.startswith(f"{path}:") for each in found.left_out)
    if lines:
        assert [each.place for each in found.left_out] == [f"{path}:{number}" for number in (3, 4, 5, 6)]


@pytest.mark.parametrize(
    ("importer", "passes", "fails"),
    [
        ("inspect", ["It is OSLO, I think", "oslo"], ["Bergen"]),
        ("inspect-match", ["It is Oslo.", "OSLO**\n"], ["Oslo, I think", "Bergen"]),
    ],
)
def test_answers_are_scored_as_by_the_scorer(
    importer: str, passes: list[str], fails: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps(SAMPLES[0]))
    expect = load_imported(importer, path).suite.scenarios[0].asked[0].expect
    found = [judge(expect, given(text)).success for text in (*passes, *fails)]
    assert found == [True] * len(passes) + [False] * len(fails)


@pytest.mark.parametrize("text", ["no json", '"text"', "[1]", '[{"input": 1}', "[" * 5000, ""])
def test_what_is_no_dataset_is_told_with_its_place(text: str, tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(text)
    with pytest.raises((UsageError, ConfigError), match=r"samples\.jsonl"):
        load_imported("inspect", path)
