"""``validate --wordings``: the wording of the prompt is chosen by trials, and serves from then on."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Ran, toolspan, toolspan_process
from tests.support.fake_providers.worded import ForgetfulModel, WordedModel, way_of
from toolspan_bridge.formats.prompt.renderings import DEFAULT as RENDERING
from toolspan_bridge.formats.prompt.renderings import RENDERINGS
from toolspan_bridge.formats.prompt.wordings import DEFAULT, WORDINGS

pytestmark = [pytest.mark.requirement("I11.4.4"), pytest.mark.long]

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
MODEL = "openai-chat/gpt-4o"
SUM = "What is 12 times 7?"
NAMED = ("--config", "toolspan.yaml")
WAYS = ["native", "rules-first", "tools-first", "tools-first-brief", "json-tools"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "suite.yaml").write_text(SUITE)
    return tmp_path


def held(fake: WordedModel) -> dict[str, str]:
    return {"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": f"{fake.url}/v1"}


def chosen(place: Path, fake: WordedModel, *options: str, model: str = MODEL) -> Ran:
    wanted = ("validate", "--wordings", "-m", model, "--suite", "suite.yaml")
    return toolspan(*wanted, *options, cwd=place, **held(fake))


def way(place: Path, fake: WordedModel, model: str) -> str:
    """The way in which the next question to ``model`` tells of the tools, in a process of its own."""
    ran = toolspan_process("ask", SUM, "-m", model, cwd=place, **held(fake))
    assert ran.code == 0, ran.err
    return fake.ways[-1]


def test_the_wording_that_a_model_obeys_is_chosen_and_serves_after_a_restart(place: Path) -> None:
    with WordedModel("tools-first-brief") as fake:
        ran = chosen(place, fake, "--json")
        assert ran.code == 0, "its native calls fail, but the chosen wording passes"
        (made,) = ran.json["wordings"]
        assert (made["model_id"], made["wording"], made["better"]) == (MODEL, "tools-first-brief", "prompt")
        counts = {name: each["success_count"] for name, each in made["wordings"].items()}
        assert counts == {"rules-first": 1, "tools-first": 1, "tools-first-brief": 2, "json-tools": 1}
        assert (made["native"]["success_count"], made["native"]["test_count"]) == (1, 2)
        assert made["wordings"]["tools-first-brief"]["tokens"] == 3 * 18
        assert list(dict.fromkeys(fake.ways)) == WAYS
        assert way(place, fake, f"prompt:{MODEL}") == "tools-first-brief"
        assert way(place, fake, "PROMPT:OpenAI-Chat:gpt-4o") == "tools-first-brief", "however it is written"
        assert way(place, fake, f"prompt.rules-first:{MODEL}") == "rules-first", "a name wins"
        assert way(place, fake, MODEL) == "native"
        assert way(place, fake, "prompt:openai-chat/gpt-4o-mini") == DEFAULT, "another model's"


def test_the_table_the_report_and_the_list_of_models_tell_the_choice(place: Path) -> None:
    with WordedModel("rules-first", "native") as fake:
        table = chosen(place, fake, model="prompt:OpenAI-Chat:gpt-4o").out
        sentence = f"prompt:{MODEL} has the wording rules-first (2/2), native calls 2/2: both are equal"
        assert sentence in table
        rows = [line.split("│")[1:5] for line in table.splitlines() if "(chosen)" in line]
        assert [[cell.strip() for cell in row] for row in rows] == [
            [f"native calls, {RENDERING} (chosen)", "2/2", "100 %", "54"],
            ["rules-first (chosen)", "2/2", "100 %", "54"],
        ]
    assert sentence in toolspan("report", cwd=place).out
    records = {record["model_id"]: record for record in toolspan("report", "--json", cwd=place).json}
    assert records[MODEL]["wording"]["wording"] == "rules-first"
    assert "wording" not in records[f"prompt.rules-first:{MODEL}"] and len(records) == len(WORDINGS) + len(
        RENDERINGS
    )
    house = {"OPENAI_API_KEY": "sk-secret"}
    with Listed() as fake:
        house["OPENAI_BASE_URL"] = f"{fake.url}/v1"
        listed = toolspan("models", "-p", "openai-chat", "--json", cwd=place, **house).json["models"]
        assert [model["prompt"] for model in listed] == [{"wording": "rules-first", "better": "equal"}, None]
        assert "rules-first (as native)" in toolspan("models", "-p", "openai-chat", cwd=place, **house).out


def test_neither_way_above_the_threshold_is_exit_6_and_a_later_choice_replaces_the_first(place: Path) -> None:
    with WordedModel() as fake:
        ran = chosen(place, fake, "--json")
        assert (ran.code, ran.json["passed"]) == (6, False)
        assert ran.json["wordings"][0]["wording"] == DEFAULT, "of equal ones the default"
    with WordedModel("native") as fake:
        ran = chosen(place, fake, "--json")
        assert (ran.code, ran.json["wordings"][0]["better"]) == (0, "native")
    with WordedModel("tools-first-brief") as fake:
        chosen(place, fake)
        assert way(place, fake, f"prompt:{MODEL}") == "tools-first-brief"


@pytest.mark.parametrize("model", ["offline/keyword", "scripted:x.yaml", "nowhere/m"])
def test_a_model_that_has_no_prompt_is_refused_before_any_trial(place: Path, model: str) -> None:
    ran = toolspan("validate", "--wordings", "-m", model, "--suite", "suite.yaml", "--json", cwd=place)
    assert (ran.code, ran.error["code"]) == (2, "usage")
    report = toolspan("report", "--json", cwd=place)
    assert (report.out, report.error["code"]) == ("", "usage"), report.err


def test_nothing_is_chosen_for_a_model_that_was_not_tried_to_the_end(place: Path) -> None:
    closed = {"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    ran = toolspan(
        "validate", "--wordings", "-m", MODEL, "--suite", "suite.yaml", "--json", cwd=place, **closed
    )
    assert ran.code == 4 and "wordings" not in ran.json


def test_a_previewed_request_has_the_chosen_wording(place: Path) -> None:
    with WordedModel("tools-first-brief") as fake:
        chosen(place, fake)
        ran = toolspan("export", "--request", SUM, "-m", f"prompt:{MODEL}", cwd=place, **held(fake))
    assert way_of(ran.json) == "tools-first-brief"


def _newer(store: Path) -> None:
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA user_version = 99")


def _broken_choice(store: Path) -> None:
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("UPDATE wordings SET choice = '{\"model_id\": 1}'")


FAULTS: dict[str, Callable[[Path], Any]] = {
    "no database": lambda store: store.write_bytes(b"nonsense" * 500),
    "a newer version": _newer,
    "a broken choice": _broken_choice,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_unreadable_store_means_the_default_and_one_note(place: Path, fault: str) -> None:
    with WordedModel("tools-first-brief") as fake:
        chosen(place, fake)
        FAULTS[fault](place / ".toolspan" / "validation.sqlite3")
        rule = "  - {{match: {{intent_regexp: /{}/}}, llm: 'prompt:openai-chat', model: {}, tools: {{}}}}\n"
        routes = "responses:\n" + rule.format("hank", "gpt-4o-mini") + rule.format("times", "gpt-4o")
        (place / "toolspan.yaml").write_text(CONFIG + routes)
        ran = toolspan("chat", *NAMED, cwd=place, stdin=f"{SUM}\nThank you!\n", **held(fake))
    assert {request.body["model"] for request in fake.received[-2:]} == {"gpt-4o", "gpt-4o-mini"}
    assert fake.ways[-2:] == [DEFAULT, DEFAULT]
    assert ran.err.count(f"the prompt has its usual wording, {DEFAULT}") == 1, ran.err


TURNS = """\
name: sums
scenarios:
  - name: two sums
    turns:
      - {query: "What is 12 times 7?", expect: {calls: [{tool: calculate}], answer: "84"}}
      - {query: "And once more?", expect: {calls: [{tool: calculate}], answer: "84"}}
"""


@pytest.mark.requirement("I25.4.9")
@pytest.mark.parametrize("rendering", [RENDERING, "cut"])
def test_the_rendering_that_a_model_obeys_is_chosen_and_serves_the_next_conversation(
    place: Path, rendering: str
) -> None:
    (place / "suite.yaml").write_text(TURNS)
    with ForgetfulModel(rendering) as fake:
        held = {"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": f"{fake.url}/v1"}
        for _ in range(2):  # the second time whatever was chosen
            wanted = ("validate", "--wordings", "-m", MODEL, "--suite", "suite.yaml", "--json")
            ran = toolspan(*wanted, cwd=place, **held)
            (made,) = ran.json["wordings"]
            counts = {name for name, each in made["renderings"].items() if each["success_count"]}
            assert (made["rendering"], counts) == (rendering, {rendering})
            assert set(fake.renderings) == set(RENDERINGS)
        fake.renderings.clear()
        talk = f"{SUM}\nAnd once more?\n"
        for model in (MODEL, f"native.calls-only:{MODEL}"):
            ran = toolspan("chat", *NAMED, "-m", model, cwd=place, stdin=talk, **held)
            assert ran.code == 0, ran.err
    assert list(dict.fromkeys(fake.renderings)) == [rendering, "calls-only"], "a name wins"


class Listed(WordedModel):
    """It lists two models."""

    def respond(self, request: Any) -> Any:
        from tests.support.fake_providers import Sent

        return Sent({"object": "list", "data": [{"id": "gpt-4o"}, {"id": "some-model"}]})
