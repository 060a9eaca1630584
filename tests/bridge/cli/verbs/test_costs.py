"""The cost of answers and conversations on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import toolspan
from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.wire_peers import wires
from toolspan_bridge.cli.terminal.costs import cost_line
from toolspan_bridge.conversation import Conversation

pytestmark = pytest.mark.requirement("I11.3.2")

USAGE = wires("anthropic").USAGE
ONE = (USAGE["input_tokens"] * 5 + USAGE["cache_read_input_tokens"] * 0.5 + USAGE["output_tokens"] * 25) / 1e6
"""Dollars of one answer of the fake, at the prices of Claude Opus 4.5."""
MODEL = ("-m", "anthropic/claude-opus-4-5")


def answers(count: int) -> FakeProvider:
    return FakeProvider(anything, [Sent(wires("anthropic").answer("It is so.")) for _ in range(count)])


def held(fake: FakeProvider) -> dict[str, str]:
    return {"ANTHROPIC_API_KEY": "sk-secret", "ANTHROPIC_BASE_URL": fake.url}


def test_an_answer_has_its_cost_in_a_footer_and_in_the_json(tmp_path: Path) -> None:
    with answers(2) as fake:
        ran = toolspan("ask", "Is it so?", *MODEL, cwd=tmp_path, **held(fake))
        assert (ran.code, ran.out) == (0, "It is so.\n")
        assert f"toolspan: cost: ${ONE:.3g}" in ran.err
        ran = toolspan("ask", "Is it so?", *MODEL, "--json", cwd=tmp_path, **held(fake))
        assert ran.json["cost"] == {"usd": pytest.approx(ONE)}


def test_a_conversation_adds_them_up_also_from_its_file(tmp_path: Path) -> None:
    with answers(4) as fake:
        chat = ("chat", *MODEL, "--save", "talk.json", "--json")
        first = toolspan(*chat, cwd=tmp_path, stdin="Is it?\nIs it?\n", **held(fake))
        costs = [json.loads(line)["cost"] for line in first.out.splitlines()]
        assert [cost["conversation_usd"] for cost in costs] == [pytest.approx(ONE), pytest.approx(2 * ONE)]
        resumed = (*chat, "--resume", "talk.json")
        again = toolspan(*resumed, cwd=tmp_path, stdin="Is it?\n", **held(fake))
        assert again.json["cost"] == {"usd": pytest.approx(ONE), "conversation_usd": pytest.approx(3 * ONE)}
        plain = toolspan("chat", *MODEL, cwd=tmp_path, stdin="Is it?\n", **held(fake))
        assert f"cost: ${ONE:.3g}; of the conversation: ${ONE:.3g}" in plain.err
    assert Conversation.load(tmp_path / "talk.json").usd == pytest.approx(3 * ONE)


def test_what_is_not_known_is_said_to_be_unknown(tmp_path: Path) -> None:
    with answers(3) as fake:
        model = ("-m", "anthropic/some-model")
        ran = toolspan("ask", "Is it so?", *model, cwd=tmp_path, **held(fake))
        assert "cost: unknown" in ran.err
        ran = toolspan("ask", "Is it so?", *model, "--json", cwd=tmp_path, **held(fake))
        assert ran.json["cost"] == {"usd": None}
        own = f"{{base_url: '{fake.url}', format: anthropic, replaces: true}}"
        (tmp_path / "toolspan.yaml").write_text(f"providers: {{anthropic: {own}}}")
        ran = toolspan("ask", "Is it so?", *MODEL, "--json", "--trust", cwd=tmp_path)
        assert (ran.code, ran.json["cost"]) == (0, {"usd": None})
    ran = toolspan("ask", "Is it so?", "-m", "offline/keyword", cwd=tmp_path)
    assert "cost" not in ran.err


def test_models_have_their_prices_and_the_context_that_a_provider_leaves_out(tmp_path: Path) -> None:
    listed = Sent({"data": [{"id": "claude-opus-4-5"}, {"id": "some-model"}], "has_more": False})
    with FakeProvider(anything, [listed, listed]) as fake:
        known, unknown = toolspan("models", "-p", "anthropic", "--json", cwd=tmp_path, **held(fake)).json[
            "models"
        ]
        assert known["usd_per_million_tokens"] == {"input": 5.0, "output": 25.0}
        assert (known["context"], known["tools"]) == (200_000, True)
        assert (unknown["usd_per_million_tokens"], unknown["context"]) == (None, None)
        table = toolspan("models", "-p", "anthropic", cwd=tmp_path, **held(fake)).out
    assert "200,000" in table and "5 / 25" in table


def test_small_costs_are_written_out() -> None:
    assert cost_line(0.0000975) == "cost: $0.0000975"
    assert cost_line(1.5, 0.25, chat=True) == "cost: $1.5000; of the conversation: $0.2500"
