"""What ``validate`` records of its trials beside success: what they cost, and calls written as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import toolspan
from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.wire_peers import wires

CONFIG = """\
tools:
  registry:
    - name: calculate
      description: Evaluate a mathematical expression
      parameters:
        type: object
        properties: {expression: {type: string, description: Math expression to evaluate}}
        required: [expression]
      implementation: {type: builtin, handler: math_eval}
"""
SUITE = """\
name: sums
scenarios:
  - {name: a sum, query: "What is 12 times 7?", expect: {calls: [{tool: calculate}], answer: "84"}}
  - {name: thanks, query: Thank you!, expect: {no_calls: true}}
"""
AS_TEXT = '<tool_call>{"name": "calculate", "arguments": {"expression": "12*7"}}</tool_call>'
TURN = ((11 - 3) * 2.5 + 3 * 1.25 + 7 * 10) / 1e6
"""Dollars of one answer of the fake, at the prices of GPT-4o."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "suite.yaml").write_text(SUITE)
    return tmp_path


def held(fake: FakeProvider) -> dict[str, str]:
    return {"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": f"{fake.url}/v1"}


def saying(*texts: str) -> FakeProvider:
    return FakeProvider(anything, [Sent(wires("openai").answer(text)) for text in texts])


def validated(place: Path, model: str, fake: FakeProvider, *options: str) -> Any:
    one_by_one = ("--concurrency", "1")  # so that each is given its own answer
    named = ("-m", model, "--suite", "suite.yaml")
    return toolspan("validate", *named, *one_by_one, *options, cwd=place, **held(fake))


@pytest.mark.requirement("I11.3.31")
def test_cost_and_calls_written_as_text_are_in_the_report_the_json_and_the_record(place: Path) -> None:
    with saying(AS_TEXT, "It is 84.", "Welcome!") as fake:
        ran = validated(place, "openai-chat/gpt-4o", fake, "--json")
    (model,) = ran.json["models"]
    assert (ran.code, model["cost"]["usd"], model["rescued"]) == (0, pytest.approx(3 * TURN), 1)
    a_sum, thanks = model["scenarios"]
    assert (a_sum["cost"]["usd"], a_sum["rescued"]) == (pytest.approx(2 * TURN), 1)
    assert (thanks["cost"]["usd"], thanks["rescued"]) == (pytest.approx(TURN), 0)
    (record,) = toolspan("report", "--json", cwd=place).json
    assert (record["cost"]["usd"], record["rescued"]) == (pytest.approx(3 * TURN), 1)
    assert record["test_history"][0]["cost"]["usd"] == pytest.approx(2 * TURN)
    with saying(*(AS_TEXT, "It is 84.", "Welcome!") * 2) as fake:
        table = validated(place, "openai-chat/gpt-4o", fake).out
        assert "rescued" in table and f"${2 * TURN:.3g}" in table and f"${3 * TURN:.3g}" in table
        validated(place, "openai-chat/gpt-4o", fake)
        report = toolspan("report", cwd=place, COLUMNS="250", **held(fake)).out
    assert "$0.00056" in report, "twice as much"
    assert "$0.00028" in report and report.count("stale") == 1, "what was asked at another address is apart"


@pytest.mark.requirement("I11.3.31")
def test_a_model_without_a_known_price_has_an_unknown_cost(place: Path) -> None:
    with saying("It is 84.", "Welcome!") as fake:
        ran = validated(place, "openai-chat/some-model", fake)
    assert "unknown" in ran.out and "$" not in ran.out
    (record,) = toolspan("report", "--json", cwd=place).json
    assert record["cost"] == {"usd": None}
