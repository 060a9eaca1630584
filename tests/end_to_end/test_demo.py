"""``toolspan demo``: what a newcomer sees first."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.cli import Ran, toolspan, toolspan_process


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, Path]:
    folder = tmp_path_factory.mktemp("demo")
    return toolspan_process("demo", cwd=folder), folder


@pytest.mark.requirement("I2.8.1", "I2.8.5")
def test_the_demo_does_the_whole_job(shown: tuple[Ran, Path]) -> None:
    ran, _ = shown
    assert ran.code == 0, ran.err
    for wire in ("openai", "ollama", "gemini", "bedrock"):
        assert wire in ran.out
    assert "→ calculate(expression=45 * 15 / 100)" in ran.out
    assert '{"result": 6.75}' in ran.out
    assert "4/4" in ran.out


@pytest.mark.requirement("I2.8.1", "I2.7.2")
def test_the_demo_names_the_file_that_it_wrote(shown: tuple[Ran, Path]) -> None:
    ran, folder = shown
    [line] = [line for line in ran.out.splitlines() if line.startswith("records: ")]
    path = folder / line.removeprefix("records: ")
    [record] = json.loads(path.read_text())
    assert record["model_id"] == "offline/keyword"
    assert record["validated"] is True


@pytest.mark.requirement("I2.8.1")
def test_the_demo_runs_again_over_what_it_left_and_says_what_can_be_typed_next(
    shown: tuple[Ran, Path],
) -> None:
    _, folder = shown
    again = toolspan("demo", cwd=folder, PATH=os.defpath)
    assert again.code == 0
    assert "8 of 8 trials" in again.out
    *_, chat, serve = again.out.strip().splitlines()
    assert [Path(line.split()[0]).exists() for line in (chat, serve)] == [True, True]
