"""``toolspan batch``: submitted by one process, gone on with by others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.cli import Ran, toolspan, toolspan_process
from tests.support.fake_providers.batches import (
    KEY,
    Answer,
    AnthropicBatches,
    Batches,
    Failed,
    GeminiBatches,
    OpenAIBatches,
    Said,
)
from toolspan_bridge import Batch

pytestmark = pytest.mark.requirement("I11.3.32")

QUESTIONS = '{"id": "monday", "question": "Will it rain?"}\n\n{"id": "tuesday", "question": "And then?"}\n'


@dataclass(frozen=True)
class Place:
    """A provider with a batch service, and its words."""

    name: str
    fake: type[Batches]
    base: str
    path: str
    running: str
    ended: str
    refusal: Failed

    def said(self, answers: Sequence[Answer], *states: str) -> Batches:
        return self.fake(answers, states)

    def held(self, fake: Batches) -> dict[str, str]:
        return {f"{self.base}_BASE_URL": fake.url + self.path, f"{self.name.upper()}_API_KEY": KEY}


REFUSED = Failed(400, "invalid_request_error", "That is too long")
PLACES = [
    Place("openai", OpenAIBatches, "OPENAI", "/v1", "in_progress", "completed", REFUSED),
    Place("anthropic", AnthropicBatches, "ANTHROPIC", "", "in_progress", "ended", REFUSED),
    Place(
        "gemini",
        GeminiBatches,
        "GOOGLE_GEMINI",
        "",
        "RUNNING",
        "SUCCEEDED",
        Failed(3, "", "That is too long"),
    ),
]


@pytest.fixture(params=PLACES, ids=lambda place: place.name)
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.param
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "questions.jsonl").write_text(QUESTIONS)
    return tmp_path


def submitted(folder: Path, place: Place, fake: Batches, *options: str) -> Ran:
    model = ("--model", f"{place.name}/m")
    return toolspan("batch", "submit", "questions.jsonl", *model, *options, cwd=folder, **place.held(fake))


def test_questions_are_submitted_watched_and_collected_by_three_processes(place: Place, folder: Path) -> None:
    answers = [Said("It will."), place.refusal]
    with place.said(answers, place.running, place.running, place.ended) as fake:
        held = place.held(fake)
        ran = submitted(folder, place, fake, "--system", "Be brief.", "--json")
        assert (ran.code, ran.json["requests"], ran.json["file"]) == (0, 2, "batch.json")
        assert ran.json["id"] == Batch.load(folder / "batch.json").id
        assert "Will it rain?" in json.dumps(fake.requests) and "Be brief." in json.dumps(fake.requests)
        state = toolspan_process("batch", "status", "--json", cwd=folder, **held)
        assert (state.code, state.json["state"], state.json["finished"]) == (0, "running", False)
        early = toolspan("batch", "collect", "--json", cwd=folder, **held)
        assert (early.code, early.error["code"], early.out) == (2, "usage", "")
        found = toolspan_process("batch", "collect", "--json", cwd=folder, **held)
        assert found.code == 1, "one question has no answer"
        rain, then = found.json
        assert (rain["id"], rain["content"], rain["stop"]) == ("monday", "It will.", "stop")
        assert rain["usage"]["output_tokens"] == 7
        assert then["id"] == "tuesday" and "That is too long" in then["error"]["message"]
        shown = toolspan("batch", "collect", cwd=folder, **held)
        assert (shown.code, shown.out) == (1, "\nmonday\nIt will.\n")
        assert "toolspan: tuesday: " in shown.err and "That is too long" in shown.err
        assert KEY not in shown.out + shown.err + (folder / "batch.json").read_text()


def test_a_batch_that_is_cancelled_keeps_what_was_answered(place: Place, folder: Path) -> None:
    with place.said([Said("It will."), None], place.running) as fake:
        held = place.held(fake)
        submitted(folder, place, fake)
        ran = toolspan("batch", "cancel", "--json", cwd=folder, **held)
        assert (ran.code, ran.json["state"]) == (0, "running"), "it runs on for a while"
        assert [each.method for each in fake.received if each.target.endswith("cancel")] == ["POST"]
        state = toolspan("batch", "status", cwd=folder, **held)
        assert state.code == 0 and ": cancelled, " in state.out
        found = toolspan("batch", "collect", "--json", cwd=folder, **held)
        assert found.code == 1 and "cancelled" in found.json[1]["error"]["message"]
        again = toolspan("batch", "cancel", "--json", cwd=folder, **held)
        assert (again.code, again.json["state"], again.json["finished"]) == (0, "cancelled", True)


def test_all_answered_is_exit_0_and_the_status_counts_them(place: Place, folder: Path) -> None:
    with place.said([Said("It will."), Said("Sun.")], place.ended) as fake:
        submitted(folder, place, fake, "--output", "week.json")
        state = toolspan("batch", "status", "week.json", cwd=folder, **place.held(fake))
        assert ": ended, 2 of 2 answered" in state.out
        found = toolspan("batch", "collect", "week.json", cwd=folder, **place.held(fake))
        assert (found.code, found.out, found.err) == (0, "\nmonday\nIt will.\n\ntuesday\nSun.\n", "")


def test_a_second_batch_never_replaces_the_way_back_to_the_first(folder: Path) -> None:
    with PLACES[0].said([Said("It will.")] * 2, "completed") as fake:
        assert submitted(folder, PLACES[0], fake).code == 0
        before, kept = len(fake.received), (folder / "batch.json").read_bytes()
        ran = submitted(folder, PLACES[0], fake)
        assert ran.code == 2 and "there already" in ran.err
        assert (len(fake.received), (folder / "batch.json").read_bytes()) == (before, kept)
        assert submitted(folder, PLACES[0], fake, "-o", "nowhere/batch.json").code == 2
        assert len(fake.received) == before, "nothing was sent"


def test_a_handle_that_cannot_be_saved_is_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("toolspan_bridge.batch.handle.replace_file", full)
    with PLACES[0].said([Said("It will.")] * 2, "completed") as fake:
        ran = submitted(folder, PLACES[0], fake)
    assert ran.code == 1 and "No space left" in ran.err
    shown = ran.err[ran.err.index("{") : ran.err.rindex("}") + 1]
    assert Batch.from_json(shown.encode()).id == "batch_1"


FAULTS = {
    "no JSON": ('{"id": "a", "question": "b"}\nnonsense\n', "line 2 of questions.jsonl is no JSON"),
    "no object": ("[]\n", "line 1 of questions.jsonl must be"),
    "a number as id": ('{"id": 1, "question": "b"}', "line 1 of questions.jsonl must be"),
    "another key": ('{"id": "a", "question": "b", "model": "c"}', "line 1 of questions.jsonl must be"),
    "an empty question": ('{"id": "a", "question": " "}', "the question is empty"),
    "an id twice": ('{"id": "a", "question": "b"}\n' * 2, "line 2 of questions.jsonl: the id 'a'"),
    "nothing": ("\n\n", "questions.jsonl has no question"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_questions_that_are_none_are_refused_with_their_line(folder: Path, fault: str) -> None:
    content, message = FAULTS[fault]
    (folder / "questions.jsonl").write_text(content)
    with PLACES[0].said([], "completed") as fake:
        ran = submitted(folder, PLACES[0], fake)
        assert fake.received == []
    assert (ran.code, message in ran.err) == (2, True), ran.err


def test_questions_come_from_stdin_too_and_what_is_not_there_is_told(folder: Path) -> None:
    ran = toolspan("batch", "submit", "nowhere.jsonl", "-m", "openai/m", cwd=folder)
    assert ran.code == 2 and "nowhere.jsonl cannot be read" in ran.err
    ran = toolspan("batch", "status", cwd=folder)
    assert ran.code == 2 and "the batch batch.json cannot be read" in ran.err
    with PLACES[0].said([Said("It will.")] * 2, "completed") as fake:
        stdin = ("batch", "submit", "-", "-m", "openai/m")
        ran = toolspan(*stdin, cwd=folder, stdin=QUESTIONS, **PLACES[0].held(fake))
        assert ran.code == 0 and "submitted with 2 questions" in ran.out


def test_a_model_without_batches_is_refused(folder: Path) -> None:
    ran = toolspan("batch", "submit", "questions.jsonl", cwd=folder)
    assert ran.code == 2 and "offline has no batch service" in ran.err
    assert not (folder / "batch.json").exists()
    ran = toolspan("batch", "submit", "questions.jsonl", "-m", "openai/m", cwd=folder, OPENAI_API_KEY="")
    assert ran.code == 3, "no key"


def test_a_provider_of_a_found_config_gets_nothing_without_consent(folder: Path) -> None:
    with PLACES[0].said([Said("It will.")] * 2, "completed") as fake:
        own = f"{{base_url: '{fake.url}/v1', format: openai, api_key: {KEY}, replaces: true}}"
        (folder / "toolspan.yaml").write_text(f"providers: {{openai: {own}}}\n")
        ran = toolspan("batch", "submit", "questions.jsonl", "-m", "openai/m", cwd=folder)
        assert ran.code == 2 and "--trust" in ran.err and fake.received == []
