"""``validate --suggest``: rewordings from one half of a suite, tested on the other."""

from __future__ import annotations

import json
import subprocess
import sys
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


@pytest.mark.requirement("I14.3.61")
def test_a_yaml_file_is_the_config_with_them_and_is_used_as_one(
    models: SkilledModels, tmp_path: Path
) -> None:
    config = "# ours\n" + CONFIG
    (tmp_path / "toolspan.yaml").write_text(config)
    ran = models.run(tmp_path, *WORDS, "--suggest", "-o", "better.yaml")
    assert ran.code == 0 and "wrote better.yaml; no config was changed" in ran.err, ran.err
    assert (tmp_path / "toolspan.yaml").read_text() == config
    assert (tmp_path / "better.yaml").read_text().startswith("# ours\n")
    again = models.run(
        tmp_path, "validate", "--suite", "suite.yaml", "-m", MODEL, "--config", "better.yaml", "--json"
    )
    assert (again.code, again.json["models"][0]["success_count"]) == (0, len(PLACES)), again.err


@pytest.mark.requirement("I14.3.61")
def test_a_patch_changes_the_config_to_it(models: SkilledModels, tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(CONFIG.rstrip())
    assert models.run(tmp_path, *WORDS, "--suggest", "-o", "better.yaml").code == 0
    ran = models.run(tmp_path, *WORDS, "--suggest", "-o", "better.patch")
    assert ran.code == 0 and "--- a/toolspan.yaml" in (tmp_path / "better.patch").read_text(), ran.err
    subprocess.run(["git", "apply", "better.patch"], cwd=tmp_path, check=True)
    assert (tmp_path / "toolspan.yaml").read_text() == (tmp_path / "better.yaml").read_text()


@pytest.mark.requirement("I14.3.61")
def test_where_no_config_has_the_tools_nothing_is_written_and_it_is_said(
    models: SkilledModels, tmp_path: Path
) -> None:
    (tmp_path / "inner.yaml").write_text(CONFIG)
    server = {"command": sys.executable, "args": ["-m", "toolspan_server", "-c", "inner.yaml"]}
    (tmp_path / "toolspan.yaml").write_text(json.dumps({"mcpServers": {"inner": server}}))
    ran = models.run(tmp_path, *WORDS, "--suggest", "--trust", "-o", "better.yaml")
    assert ran.code == 0, ran.err
    assert "not in better.yaml: later, now" in ran.err and "better.yaml is not written" in ran.err
    assert not (tmp_path / "better.yaml").exists()


@pytest.mark.requirement("I14.3.61")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-o", "toolspan.yaml"), "is the config itself"),
        (("-o", "x.yml", "-c", "toolspan.yaml", "-c", "other.yaml"), "2 are given: write a .patch file"),
    ],
)
def test_a_file_that_could_not_be_written_is_refused_before_a_model_is_asked(
    models: SkilledModels, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    (tmp_path / "other.yaml").write_text("tools: {registry: []}\n")
    ran = models.run(tmp_path, *WORDS, "--suggest", *words)
    assert ran.code == 2 and told in ran.err
    assert models.received == []


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
