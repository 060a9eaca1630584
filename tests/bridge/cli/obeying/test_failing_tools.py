"""A tool that the model fails with is offered last, or left out, as the config says; and it is said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fake_providers import Sent
from tests.support.skilled_models import Asked, SkilledModels, calls, says

pytestmark = [pytest.mark.requirement("I14.4.3"), pytest.mark.long]

CONFIG = """\
name: shop
tools:
  registry:
    - name: add
      description: Add two numbers
      parameters: {type: object, properties: {a: {type: number}}}
      implementation: {type: mock, response: 4}
    - name: close
      description: Close a ticket
      parameters: {type: object, properties: {id: {type: number}}}
      implementation: {type: mock, response: closed}
"""
SUITE = """\
name: shop
scenarios:
  - {name: sum, query: "What is 2+2?", expect: {calls: [{tool: add}]}}
  - {name: ticket, query: "Open ticket 3 again", expect: {calls: [{tool: close}]}}
"""
MODEL = "openai-chat/gpt-4o"
FAILS = "close (0 of 12 succeeded)"


def never_closes(asked: Asked) -> Sent:
    return calls(asked, "add", {"a": 2}) if "2+2" in asked.question else says("I cannot.")


@pytest.fixture
def models(tmp_path: Path) -> Iterator[SkilledModels]:
    """The provider of a model that was tried with both tools."""
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "suite.yaml").write_text(SUITE)
    with SkilledModels(never_closes) as models:
        models.run(tmp_path, "validate", "--suite", "suite.yaml", "--trials", "12", "-m", MODEL)
        models.received.clear()
        yield models


def configured(folder: Path, rule: str, more: str = "") -> None:
    (folder / "toolspan.yaml").write_text(f"{CONFIG}validation: {{failing_tools: {rule}}}\n{more}")


def offered(models: SkilledModels) -> list[str]:
    return [name.removeprefix("shop__") for name in models.last.tools]


def test_all_are_offered_alike_unless_the_config_says_otherwise(
    models: SkilledModels, tmp_path: Path
) -> None:
    ran = models.run(tmp_path, "ask", "Hello", "-m", MODEL)
    assert offered(models) == ["add", "close"] and "fails with" not in ran.err


def test_left_out_and_said(models: SkilledModels, tmp_path: Path) -> None:
    configured(tmp_path, "leave_out")
    ran = models.run(tmp_path, "ask", "Hello", "-m", MODEL)
    assert offered(models) == ["add"]
    assert f"left out, because {MODEL} fails with them: {FAILS}" in ran.err
    other = models.run(tmp_path, "ask", "Hello", "-m", "openai-chat/gpt-4o-mini")
    assert offered(models) == ["add", "close"] and "fails with" not in other.err


def test_last_and_said(models: SkilledModels, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE.replace("tool: close", "tool: add").replace("2+2", "3+3"))
    models.run(tmp_path, "validate", "--suite", "suite.yaml", "--trials", "12", "-m", MODEL)
    configured(tmp_path, "last")
    ran = models.run(tmp_path, "ask", "Hello", "-m", MODEL)
    assert offered(models) == ["close", "add"]
    assert f"offered last, because {MODEL} fails with them: add (0 of 24 succeeded)" in ran.err


def test_one_that_the_route_names_stays_and_that_is_said(models: SkilledModels, tmp_path: Path) -> None:
    configured(tmp_path, "leave_out", "responses: [{tools: {allowed_tools: [close]}}]\n")
    ran = models.run(tmp_path, "ask", "Hello", "-m", MODEL)
    assert offered(models) == ["close"]
    assert f"{MODEL} fails with tools that are asked for by name, or the only ones: {FAILS}" in ran.err


def test_the_only_tools_stay(models: SkilledModels, tmp_path: Path) -> None:
    alone = CONFIG.replace("name: add", "name: close_all")
    suite = SUITE.replace("tool: add", "tool: close_all")
    (tmp_path / "toolspan.yaml").write_text(f"{alone}validation: {{failing_tools: leave_out}}\n")
    (tmp_path / "suite.yaml").write_text(suite.replace("2+2", "3+3"))
    models.run(tmp_path, "validate", "--suite", "suite.yaml", "--trials", "12", "-m", MODEL)
    ran = models.run(tmp_path, "ask", "Hello", "-m", MODEL)
    assert offered(models) == ["close", "close_all"]
    assert "or the only ones: close (0 of 12 succeeded), close_all (0 of 12 succeeded)" in ran.err


def test_the_chat_lists_it_and_switches_it_on_again(models: SkilledModels, tmp_path: Path) -> None:
    configured(tmp_path, "leave_out")
    ran = models.run(tmp_path, "chat", "-m", MODEL, stdin="/tools\nHello\n/tools on close\nHello\n/tools\n")
    first, second = models.received
    assert [len(json.loads(each.content)["tools"]) for each in (first, second)] == [1, 2]
    before, _, after = ran.err.partition("on in this conversation: close")
    assert "close (left out: the model fails with it, 0 of 12 succeeded)" in before
    assert before.count("left out, because") == 1
    assert "left out" not in after and "shop: add, close" in after


def test_a_conversation_keeps_the_tools_that_it_began_with(models: SkilledModels, tmp_path: Path) -> None:
    models.run(tmp_path, "ask", "Hello", "-m", MODEL)
    configured(tmp_path, "leave_out")
    resumed = models.run(tmp_path, "ask", "And now?", "-m", MODEL, "--continue")
    assert offered(models) == ["add", "close"] and "left out" not in resumed.err


def test_validate_offers_every_tool(models: SkilledModels, tmp_path: Path) -> None:
    configured(tmp_path, "leave_out")
    models.run(tmp_path, "validate", "--suite", "suite.yaml", "-m", MODEL)
    assert offered(models) == ["add", "close"]
