"""``validate --suggest``: rewordings from one half of a suite, tested on the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fake_providers import Sent
from tests.support.skilled_models import Asked, SkilledModels, calls, says

pytestmark = [pytest.mark.requirement("I14.3.33"), pytest.mark.long]

CONFIG = """\
tools:
  registry:
    - name: now
      description: Tells of the weather
      parameters: {type: object, properties: {}}
      implementation: {type: mock, response: sunny}
    - name: later
      description: Tells of the weather of the next days
      parameters: {type: object, properties: {}}
      implementation: {type: mock, response: sunny}
"""
MODEL = "openai-chat/gpt-4o"
PLACES = ("Oslo", "Rome", "Bonn", "Lima", "Kyiv", "Bern")


def skill(asked: Asked) -> Sent:
    """Calls the wrong tool, unless its description says what it is not for. As a writer, it proposes that."""
    if "Propose better descriptions" in asked.question:
        better = {"tool": "later", "parameter": "", "description": "Not for now.", "reason": "confused"}
        return says(json.dumps({"rewordings": [better]}))
    told = json.dumps(asked.body["tools"]) if "tools" in asked.body else ""
    return calls(asked, "now" if "Not for" in told else "later", {})


@pytest.fixture
def models(tmp_path: Path) -> Iterator[SkilledModels]:
    """The provider of that model, beside a config and a suite."""
    scenarios = [
        {
            "name": place,
            "query": f"Weather in {place}?",
            "expect": {"calls": [{"tool": "now"}], "max_calls": 1},
        }
        for place in PLACES
    ]
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "suite.yaml").write_text(json.dumps({"name": "weather", "scenarios": scenarios}))
    with SkilledModels(skill) as models:
        yield models


WORDS = ("validate", "--suite", "suite.yaml", "-m", MODEL, "--trials", "5")


def test_rules_make_rewordings_that_are_tested_on_what_was_held_out(
    models: SkilledModels, tmp_path: Path
) -> None:
    before = (tmp_path / "toolspan.yaml").read_text()
    ran = models.run(tmp_path, *WORDS, "--suggest", "--json", "-o", "words.json")
    assert ran.code == 0, ran.err
    assert "looking at 3 scenarios; 3 scenarios held out" in ran.err
    assert [each["tool"] for each in ran.json["rewordings"]] == ["later", "now"]
    [found] = ran.json["differences"]
    whole = found["all"]
    assert (whole["before"]["successes"], whole["now"]["successes"], whole["n"]) == (0, 15, 15)
    assert whole["change"] == "better" and len(found["scenarios"]) == 3
    written = json.loads((tmp_path / "words.json").read_text())
    assert written["rewordings"] == ran.json["rewordings"]
    assert (tmp_path / "toolspan.yaml").read_text() == before


def test_a_model_may_propose_them_and_people_see_why(models: SkilledModels, tmp_path: Path) -> None:
    ran = models.run(tmp_path, *WORDS, "--suggest-with", "openai-chat/gpt-4o-mini")
    assert ran.code == 0, ran.err
    assert "later: Not for now.\n  because confused" in ran.out
    assert "better by more than chance: +100 points" in ran.out


def test_a_model_that_proposes_nothing_readable_is_an_error(models: SkilledModels, tmp_path: Path) -> None:
    ran = models.run(tmp_path, *WORDS, "--suggest-with", "offline/keyword")
    assert ran.code == 1 and "offline/keyword proposed nothing that can be read" in ran.err


def test_where_nothing_fails_nothing_is_suggested(models: SkilledModels, tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(CONFIG.replace("of the next days", "later. Not for now"))
    ran = models.run(tmp_path, *WORDS, "--suggest", "--json")
    assert ran.code == 0 and ran.json == {"rewordings": [], "differences": []}
    assert "nothing failed in the half that was looked at" in ran.err


@pytest.mark.parametrize(
    "words", [("-o", "x.json"), ("--suggest", "--against", "x.yaml"), ("--suggest", "--quick")]
)
def test_options_that_do_not_go_together(
    models: SkilledModels, tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert models.run(tmp_path, "validate", "--suite", "suite.yaml", *words).code == 2
    assert models.received == []
