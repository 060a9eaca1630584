"""Limits from the options and the config of ask and chat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Ran, toolspan
from toolspan_bridge.routes import route
from toolspan_server.config import Config

pytestmark = pytest.mark.requirement("I12.5.17", "I12.5.10")

TOOLS = """
tools:
  registry:
    - name: look
      description: Looks.
      parameters: {type: object, properties: {n: {type: integer}}}
      implementation: {type: mock, mock_response: {seen: true}}
"""


def script(folder: Path, calls: int, usage: int = 100) -> None:
    turns: list[Any] = [
        {"calls": [{"tool": "look", "arguments": {"n": n}}], "usage": {"input_tokens": usage}}
        for n in range(calls)
    ]
    (folder / "turns.yaml").write_text(
        json.dumps({"turns": [*turns, {"text": "So far.", "usage": {"input_tokens": usage}}]})
    )


def asked(folder: Path, *options: str, config: str = TOOLS, verb: str = "ask", stdin: str = "") -> Ran:
    (folder / "tools.yaml").write_text(config)
    question = ("What?",) if verb == "ask" else ()
    model = ("-m", "scripted/turns.yaml", "-c", "tools.yaml")
    return toolspan(verb, *question, *model, *options, cwd=folder, stdin=stdin)


@pytest.mark.parametrize(
    ("options", "key"),
    [(("--max-calls", "2"), "question.calls"), (("--max-total-tokens", "300"), "question.tokens")],
)
def test_a_limit_of_the_options_ends_a_question_with_exit_code_9(
    tmp_path: Path, options: tuple[str, ...], key: str
) -> None:
    script(tmp_path, 2)
    ran = asked(tmp_path, *options, "--json")
    assert (ran.code, ran.json["content"], ran.json["limit"]) == (9, "So far.", key)
    assert "Raise it with" in ran.json["reason"]


def test_the_config_s_limits_hold_and_the_options_win(tmp_path: Path) -> None:
    config = "limits: {question: {calls: 1}}\n" + TOOLS
    script(tmp_path, 1)
    ran = asked(tmp_path, config=config)
    assert (ran.code, ran.out) == (9, "So far.\n")
    assert "limits.question.calls in the config" in ran.err
    script(tmp_path, 2)
    assert asked(tmp_path, "--max-calls", "3", config=config).code == 0


def test_a_conversation_s_limit_holds_after_a_resume(tmp_path: Path) -> None:
    script(tmp_path, 1)
    first = asked(tmp_path, "--save", "talk.json", verb="chat", stdin="One?\n")
    assert first.code == 0
    again = ("--resume", "talk.json", "--conversation-limit", "calls=2", "--json")
    script(tmp_path, 1)
    ran = asked(tmp_path, *again, verb="chat", stdin="Two?\n")
    assert json.loads(ran.out)["limit"] == "conversation.calls"


@pytest.mark.requirement("I12.5.12")
def test_a_limit_on_cost_needs_a_price(tmp_path: Path) -> None:
    ran = toolspan("ask", "What?", "-m", "ollama/some", "--max-cost", "1", "--json", cwd=tmp_path)
    assert (ran.code, ran.error["code"]) == (2, "usage")
    assert "no price is known of ollama/some" in ran.error["message"]


@pytest.mark.parametrize("wrong", ["calls", "calls=0", "calls=1.5", "words=3", "usd=nan", "usd=inf"])
def test_a_wrong_limit_is_refused_with_how_to_write_one(tmp_path: Path, wrong: str) -> None:
    ran = toolspan("chat", "--conversation-limit", wrong, cwd=tmp_path)
    assert ran.code == 2 and "as in calls=50 or usd=1.50" in ran.err


def test_a_route_takes_what_runs_side_by_side_and_repairs_from_the_config() -> None:
    config = Config.model_validate({"tools": {"max_parallel": 2, "repair_attempts": 0}, "responses": [{}]})
    asked = route(config, "x").question("x", "m")
    assert (asked.max_parallel, asked.repair_attempts) == (2, 0)


@pytest.mark.requirement("I12.5.51")
def test_at_the_most_turns_with_tools_it_is_said_and_the_exit_code_is_9(tmp_path: Path) -> None:
    script(tmp_path, 5)
    ran = asked(tmp_path)
    assert (ran.code, ran.out) == (9, "So far.\n")
    said = "The limit of 5 turns with tools for this question was reached. Raise it with --max-iterations"
    assert said in ran.err
    script(tmp_path, 6)
    assert asked(tmp_path, "--max-iterations", "7").code == 0
    assert asked(tmp_path, "--max-iterations", "6", "--json").json["max_iterations_reached"] is True


@pytest.mark.requirement("I12.5.51")
def test_with_a_workspace_there_are_more_turns_with_tools(tmp_path: Path) -> None:
    script(tmp_path, 7)
    folder = tmp_path / "work"
    folder.mkdir()
    assert asked(tmp_path, "--workspace", str(folder)).code == 0
    config = f"services: {{workspaces: {{main: {{path: work}}}}}}\n{TOOLS}"
    assert asked(tmp_path, config=config).code == 0
    assert asked(tmp_path, "--workspace", str(folder), config="tools: {max_iterations: 3}\n").code == 9
    for data, turns in (({}, 5), ({"services": {"workspaces": {"main": {"path": "."}}}}, 100)):
        assert route(Config.model_validate(data), "x").max_iterations == turns
