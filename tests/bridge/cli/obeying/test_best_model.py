"""``best`` is the cheapest model that is validated with the tools: in routes, and named by a person."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import toolspan
from tests.support.fake_providers import Sent
from tests.support.skilled_models import Asked, SkilledModels, calls, says
from tests.support.state_marks import share_state_mark

pytestmark = [pytest.mark.requirement("I14.4.4"), pytest.mark.long]

ROUTE = "responses: [{model: best, tools: {}}]\n"
CONFIG = """\
tools:
  registry:
    - name: add
      description: Add two numbers
      parameters: {type: object, properties: {a: {type: number}}}
      implementation: {type: mock, response: 4}
responses: [{model: best, tools: {}}]
validation: {on_unvalidated: ignore}
"""
SUITE = """\
name: shop
scenarios: [{name: sum, query: "Add 2", expect: {calls: [{tool: add}]}}]
"""
NAMED = ("--config", "toolspan.yaml")
DEAR, CHEAP, POOR = "openai-chat/gpt-4o", "openai-chat/gpt-4o-mini", "openai-chat/gpt-4.1-nano"


def skill(asked: Asked) -> Sent:
    return says("Two.") if asked.model == "gpt-4.1-nano" else calls(asked, "add", {"a": 2})


@pytest.fixture
def models(tmp_path: Path) -> Iterator[SkilledModels]:
    """A provider of three models: the dear one and the cheap one call the tool, the cheapest does not."""
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "suite.yaml").write_text(SUITE)
    with SkilledModels(skill, ["gpt-4o", "gpt-4o-mini", "gpt-4.1-nano"]) as models:
        yield models


def tried(models: SkilledModels, folder: Path, *names: str, trials: int = 20) -> None:
    named = [word for name in names for word in ("-m", name)]
    models.run(folder, "validate", "--suite", "suite.yaml", "--trials", str(trials), *named)
    models.received.clear()


def test_a_route_gets_the_cheapest_validated_model_and_says_which(
    models: SkilledModels, tmp_path: Path
) -> None:
    tried(models, tmp_path, DEAR, CHEAP, POOR)
    ran = models.run(tmp_path, "ask", "Add 2", *NAMED)
    assert ran.code == 0 and models.last.model == "gpt-4o-mini"
    assert f"best is {CHEAP}: validated (n=20, 100 %, 83–100 %), $0.0000" in ran.err
    assert " a success" in ran.err


def test_none_validated_is_exit_6_with_every_candidate_and_its_badge(
    models: SkilledModels, tmp_path: Path
) -> None:
    never = models.run(tmp_path, "ask", "Add 2", *NAMED)
    assert never.code == 6 and "none was ever tried" in never.err
    tried(models, tmp_path, DEAR, trials=4)
    tried(models, tmp_path, POOR)
    ran = models.run(tmp_path, "ask", "Add 2", "--json", *NAMED)
    assert (ran.code, ran.error["code"]) == (6, "unvalidated")
    assert f"{DEAR}: provisional (n=4, 100 %, 51–100 %)" in ran.error["message"]
    assert f"{POOR}: failed (n=20, 0 %, 0–17 %)" in ran.error["message"]
    assert models.received == []


def test_other_tools_than_the_measured_ones_validate_nobody(models: SkilledModels, tmp_path: Path) -> None:
    tried(models, tmp_path, CHEAP)
    (tmp_path / "toolspan.yaml").write_text(CONFIG.replace("two numbers", "numbers"))
    ran = models.run(tmp_path, "ask", "Add 2", *NAMED)
    assert ran.code == 6 and "stale" in ran.err and "the tools' definitions" in ran.err


def test_one_without_a_key_or_consent_is_passed_over_and_it_is_said(
    models: SkilledModels, tmp_path: Path
) -> None:
    tried(models, tmp_path, CHEAP)
    own = f"providers: {{acme: {{base_url: '{models.url}/v1', format: openai, key_env: ACME_KEY}}}}\n"
    (tmp_path / "toolspan.yaml").write_text(CONFIG + own)
    held = {"ACME_KEY": "sk-acme"}
    words = ("validate", "--suite", "suite.yaml", "--trials", "20", "-m", "acme/gpt-4o", *NAMED)
    assert models.run(tmp_path, *words, **held).code == 0
    assert models.run(tmp_path, "ask", "Add 2", *NAMED, **held).code == 0
    assert models.last.model == "gpt-4o", "a server of this machine costs nothing"
    ran = models.run(tmp_path, "ask", "Add 2", *NAMED)
    assert models.last.model == "gpt-4o-mini" and ran.code == 0
    assert "acme/gpt-4o: validated" in ran.err and "but it is passed over:" in ran.err
    assert "ACME_KEY" in ran.err
    models.received.clear()
    found = models.run(tmp_path, "ask", "Add 2", "-m", "best:acme", **held)
    assert found.code == 6 and models.received == []
    assert "acme/gpt-4o: validated" in found.err and "but it is passed over: the config found" in found.err


def test_a_person_may_ask_for_the_best_and_for_that_of_one_provider(
    models: SkilledModels, tmp_path: Path
) -> None:
    tried(models, tmp_path, DEAR, CHEAP)
    (tmp_path / "toolspan.yaml").write_text(CONFIG.replace(ROUTE, ""))
    for named in ("best", "best:openai-chat"):
        ran = models.run(tmp_path, "ask", "Add 2", "-m", named)
        assert models.last.model == "gpt-4o-mini" and f"{named} is {CHEAP}" in ran.err
    chat = models.run(tmp_path, "chat", "-m", DEAR, stdin="/model best\nAdd 2\nAdd 2\n")
    assert models.last.model == "gpt-4o-mini" and chat.err.count(f"best is {CHEAP}") == 1
    none = models.run(tmp_path, "ask", "Add 2", "-m", "best:ollama")
    assert none.code == 6 and "none was ever tried" in none.err


def test_what_is_no_language_model_is_only_the_best_where_no_other_is(
    models: SkilledModels, tmp_path: Path
) -> None:
    tried(models, tmp_path, "offline/keyword")
    assert "best is offline/keyword: validated" in toolspan("ask", "Add 2", *NAMED, cwd=tmp_path).err
    tried(models, tmp_path, DEAR)
    assert f"best is {DEAR}: validated" in models.run(tmp_path, "ask", "Add 2", *NAMED).err


def test_the_best_in_the_mode_in_which_it_was_validated(models: SkilledModels, tmp_path: Path) -> None:
    tried(models, tmp_path, f"prompt:{CHEAP}")
    ran = models.run(tmp_path, "ask", "Add 2", *NAMED)
    assert models.last.prompted and f"best is prompt.json-tools:{CHEAP}" in ran.err


def test_export_shows_the_request_to_the_best(models: SkilledModels, tmp_path: Path) -> None:
    tried(models, tmp_path, DEAR)
    shown = models.run(tmp_path, "export", "--request", "Add 2", *NAMED, OPENAI_API_KEY="")
    assert shown.json["model"] == "gpt-4o"


def without_route(folder: Path) -> None:
    (folder / "toolspan.yaml").write_text(CONFIG.replace(ROUTE, ""))


@pytest.mark.requirement("I14.3.60")
def test_a_preset_may_name_the_best(models: SkilledModels, tmp_path: Path) -> None:
    tried(models, tmp_path, DEAR, CHEAP)
    without_route(tmp_path)
    held = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    share_state_mark(tmp_path / "state")
    made = models.run(tmp_path, "presets", "create", "adder", "-m", "best", "--tool", "add", *NAMED, **held)
    assert made.code == 0 and "model: best" in made.out, made.err
    ran = models.run(tmp_path, "ask", "Add 2", "--preset", "adder", **held)
    assert (ran.code, models.last.model) == (0, "gpt-4o-mini") and f"best is {CHEAP}" in ran.err
    moved = models.run(tmp_path, "presets", "update", "adder", "-m", "best:ollama", **held)
    assert moved.code == 0 and "model: best:ollama" in moved.out, moved.err
    none = models.run(tmp_path, "ask", "Add 2", "--preset", "adder", **held)
    assert none.code == 6 and "none was ever tried" in none.err
    wrong = models.run(tmp_path, "presets", "update", "adder", "-m", "bester", **held)
    assert wrong.code == 2 and "PROVIDER/MODEL" in wrong.err


@pytest.mark.requirement("I14.3.60")
def test_the_best_may_be_the_default_model(models: SkilledModels, tmp_path: Path) -> None:
    tried(models, tmp_path, DEAR, CHEAP)
    without_route(tmp_path)
    held = {"XDG_CONFIG_HOME": str(tmp_path / "user")}
    kept = models.run(tmp_path, "models", "--default", "best", **held)
    assert kept.code == 0 and kept.out.startswith("best ("), kept.err
    ran = models.run(tmp_path, "ask", "Add 2", **held)
    assert (ran.code, models.last.model) == (0, "gpt-4o-mini") and f"best is {CHEAP}" in ran.err
    chat = models.run(tmp_path, "chat", stdin="Add 2\n", **held)
    assert chat.code == 0 and models.last.model == "gpt-4o-mini", chat.err
    shown = models.run(tmp_path, "export", "--request", "Add 2", **held)
    assert shown.json["model"] == "gpt-4o-mini", shown.err
    assert "the default model is best" in models.run(tmp_path, "doctor", **held).out
    unnamed = models.run(tmp_path, "validate", "--suite", "suite.yaml", **held)
    assert unnamed.code == 2 and "name a model here with --model" in unnamed.err
    unknown = models.run(tmp_path, "models", "--default", "best:nobody", **held)
    assert unknown.code == 2 and "no provider 'nobody'" in unknown.err
