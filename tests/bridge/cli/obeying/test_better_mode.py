"""A model that does better by prompts is used so by ask and chat, and it is said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fake_providers import Sent
from tests.support.skilled_models import Asked, SkilledModels, calls, says

pytestmark = [pytest.mark.requirement("I14.4.2"), pytest.mark.long]

CONFIG = """\
tools:
  registry:
    - name: calculate
      description: Evaluate an expression
      parameters: {type: object, properties: {expression: {type: string}}, required: [expression]}
      implementation: {type: builtin, handler: math_eval}
"""
SUITE = """\
name: sums
scenarios:
  - {name: sum, query: "What is 2+2?", expect: {calls: [{tool: calculate}]}}
"""
MODEL = "openai-chat/gpt-4o"
SAID = f"{MODEL} is used by prompts: 20 of 20 succeeded, natively 0 of 20 (p < 0.001)"


def only_by_prompts(asked: Asked) -> Sent:
    return calls(asked, "calculate", {"expression": "2+2"}) if asked.prompted else says("Four, I think.")


@pytest.fixture
def models(tmp_path: Path) -> Iterator[SkilledModels]:
    """The provider of a model that was tried in both modes with the config of the folder."""
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "suite.yaml").write_text(SUITE)
    with SkilledModels(only_by_prompts) as models:
        words = ("validate", "--suite", "suite.yaml", "--trials", "20")
        assert models.run(tmp_path, *words, "-m", MODEL, "-m", f"prompt:{MODEL}").code == 6
        models.received.clear()
        yield models


def configured(folder: Path, **validation: object) -> None:
    (folder / "toolspan.yaml").write_text(f"{CONFIG}validation: {json.dumps(validation)}\n")


def test_ask_uses_the_better_mode_and_says_so(models: SkilledModels, tmp_path: Path) -> None:
    ran = models.run(tmp_path, "ask", "What is 2+2?", "-m", MODEL)
    assert models.last.prompted and ran.code == 0
    assert SAID in ran.err and f"-m native:{MODEL}" in ran.err
    assert "calculate(expression=2+2)" in ran.err


@pytest.mark.parametrize("named", [f"native:{MODEL}", f"prompt.json-tools:{MODEL}"])
def test_a_mode_that_is_named_is_the_mode(models: SkilledModels, tmp_path: Path, named: str) -> None:
    ran = models.run(tmp_path, "ask", "What is 2+2?", "-m", named)
    assert models.last.prompted == named.startswith("prompt")
    assert "is used by prompts" not in ran.err and ran.code == 0


def test_the_config_may_have_it_only_said_or_ignored(models: SkilledModels, tmp_path: Path) -> None:
    for rule, is_said in (("say", True), ("ignore", False)):
        configured(tmp_path, better_mode=rule)
        ran = models.run(tmp_path, "ask", "What is 2+2?", "-m", MODEL)
        assert not models.last.prompted
        assert (f"{MODEL} does better by prompts" in ran.err) == is_said
        assert "is used by prompts" not in ran.err


def test_changed_tools_make_it_stale_and_so_do_too_few_trials(models: SkilledModels, tmp_path: Path) -> None:
    configured(tmp_path, minimum=21)
    models.run(tmp_path, "ask", "What is 2+2?", "-m", MODEL)
    assert not models.last.prompted
    (tmp_path / "toolspan.yaml").write_text(CONFIG.replace("an expression", "a formula"))
    ran = models.run(tmp_path, "ask", "What is 2+2?", "-m", MODEL)
    assert not models.last.prompted and "by prompts" not in ran.err


def test_without_tools_there_is_no_mode_to_choose(models: SkilledModels, tmp_path: Path) -> None:
    route = "responses: [{tools: {enabled: false}}]\n"
    (tmp_path / "toolspan.yaml").write_text(CONFIG + route)
    assert "by prompts" not in models.run(tmp_path, "ask", "What is 2+2?", "-m", MODEL).err


def test_a_conversation_goes_on_in_its_mode_whatever_was_measured_since(
    models: SkilledModels, tmp_path: Path
) -> None:
    assert models.run(tmp_path, "ask", "What is 2+2?", "-m", MODEL).code == 0
    changed = CONFIG.replace("an expression", "a formula")
    (tmp_path / "toolspan.yaml").write_text(changed)
    resumed = models.run(tmp_path, "ask", "And now?", "-m", MODEL, "--continue")
    assert models.last.prompted
    assert f"{MODEL} is used by prompts, as before in this conversation" in resumed.err
    models.run(tmp_path, "ask", "And now?", "-m", MODEL)
    assert not models.last.prompted


def test_a_conversation_that_began_natively_stays_native(models: SkilledModels, tmp_path: Path) -> None:
    configured(tmp_path, better_mode="ignore")
    models.run(tmp_path, "ask", "What is 2+2?", "-m", MODEL)
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    resumed = models.run(tmp_path, "ask", "And now?", "-m", MODEL, "--continue")
    assert not models.last.prompted and "by prompts" not in resumed.err


def test_the_chat_says_it_once_and_in_its_banner(models: SkilledModels, tmp_path: Path) -> None:
    ran = models.run(tmp_path, "chat", "-m", "offline/keyword", stdin=f"/model {MODEL} anyway\nSum?\nSum?\n")
    assert models.last.prompted and ran.code == 0
    assert ran.err.count(SAID) == 1


def test_a_damaged_store_is_said_and_the_model_used_natively(models: SkilledModels, tmp_path: Path) -> None:
    (tmp_path / ".toolspan" / "validation.sqlite3").write_bytes(b"no database" * 500)
    ran = models.run(tmp_path, "ask", "What is 2+2?", "-m", MODEL)
    assert not models.last.prompted and ran.code == 0
    assert f"whether {MODEL} does better by prompts is not known" in ran.err


@pytest.mark.requirement("I14.4.5")
def test_models_shows_both_modes_and_which_is_better(models: SkilledModels, tmp_path: Path) -> None:
    ran = models.run(tmp_path, "models", "-p", "openai-chat", "--json")
    [model] = [each for each in ran.json["models"] if each["id"] == MODEL]
    badges = {mode["mode"]: mode["badge"]["status"] for mode in model["modes"]}
    assert badges == {"native": "failed", "prompt": "validated"}
    assert model["better_mode"] == f"prompt.json-tools:{MODEL}"
    shown = models.run(tmp_path, "models", "-p", "openai-chat", COLUMNS="300").out
    assert "failed (n=20, 0 %, 0–17 %)" in shown and "validated (n=20, 100 %, 83–100 %)" in shown
