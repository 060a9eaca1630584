"""``toolspan validate --batch``: each turn of all trials is a batch of the provider."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from tests.support.cli import Ran, toolspan
from tests.support.fake_providers import Received, Sent
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
from tests.support.waiting import BOUND_S
from toolspan_bridge.messages import Usage
from toolspan_bridge.providers.prices import cost_of
from toolspan_bridge.validation import STORE_FILE, Store

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
  - {name: a sum, query: "What is 2+2?", expect: {calls: [{tool: calculate}], answer: "4"}}
  - {name: a product, query: "What is 2*3?", expect: {calls: [{tool: calculate}], answer: "6"}}
  - {name: thanks, query: Thank you!, expect: {no_calls: true}}
"""


def call(expression: str) -> Said:
    return Said(calls=((f"call_{ord(expression[1])}", "calculate", {"expression": expression}),))


TURNS: list[Sequence[Answer]] = [
    [call("2+2"), call("2*3"), Said("You are welcome.")],
    [Said("It is 4."), Said("It is 6.")],
]
REFUSED = Failed(400, "invalid_request_error", "That is too long")


def served(fake: type[Batches], rounds: Sequence[Sequence[Answer]], *states: str) -> Any:
    """A ``fake`` whose batches are answered by ``rounds``, in turn; ``asked`` has what was asked by each."""

    class InRounds(fake):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__([], states)
            self.asked: list[list[dict[str, Any]]] = []
            self.states = states

        @override
        def respond(self, request: Received) -> Sent:
            first = request.target.endswith(("/files", "/messages/batches", ":batchGenerateContent"))
            if request.method == "POST" and first:
                self._answers = list(rounds[len(self.asked)])
            sent: Sent = super().respond(request)
            if request.method == "POST" and first:
                self.asked.append(self.requests)
            return sent

        def ends(self, state: str) -> None:
            self._states = [state]

    return InRounds()


PLACES: dict[str, tuple[Any, str, str, str, str]] = {
    "openai": (OpenAIBatches, "OPENAI", "/v1", "in_progress", "completed"),
    "anthropic": (AnthropicBatches, "ANTHROPIC", "", "in_progress", "ended"),
    "gemini": (GeminiBatches, "GOOGLE_GEMINI", "", "RUNNING", "SUCCEEDED"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "suite.yaml").write_text(SUITE)
    return tmp_path


def held(name: str, fake: Batches) -> dict[str, str]:
    _, base, path, *_ = PLACES[name]
    return {f"{base}_BASE_URL": fake.url + path, f"{name.upper()}_API_KEY": KEY}


def words(name: str, *options: str) -> list[str]:
    return ["validate", "--batch", "--suite", "suite.yaml", "-m", f"{name}/m", "--json", *options]


def validated(folder: Path, name: str, fake: Batches, *options: str) -> Ran:
    return toolspan(*words(name, *options), cwd=folder, **held(name, fake))


def handles(folder: Path) -> list[Path]:
    return sorted((folder / ".toolspan").glob("batches/*/*.json"))


@pytest.mark.requirement("I14.2.50")
@pytest.mark.parametrize("name", PLACES)
def test_each_turn_of_all_trials_is_one_batch(folder: Path, name: str) -> None:
    fake_service, *_, ended = PLACES[name]
    with served(fake_service, TURNS, ended) as fake:
        ran = validated(folder, name, fake)
        assert ran.code == 0, (ran.out, ran.err)
        (model,) = ran.json["models"]
        assert (model["test_count"], model["success_count"], ran.json["missing"]) == (3, 3, 0)
        assert [len(batch) for batch in fake.asked] == [3, 2]
        assert "2+2" in json.dumps(fake.asked[1]) and "2*3" in json.dumps(fake.asked[1])
        assert "submitted with 3 requests" in ran.err and "submitted with 2 requests" in ran.err
        assert handles(folder) == [], "a run that is done needs its batches no more"
        assert KEY not in ran.out + ran.err


@pytest.mark.long
@pytest.mark.requirement("I14.2.51")
def test_a_failed_request_is_an_error_of_its_trial_and_is_asked_again_by_the_same_command(
    folder: Path,
) -> None:
    rounds: list[Sequence[Answer]] = [
        [call("2+2"), REFUSED, Said("Welcome.")],
        [Said("It is 4.")],
        [call("2*3")],
        [Said("It is 6.")],
    ]
    with served(AnthropicBatches, rounds, "ended") as fake:
        ran = validated(folder, "anthropic", fake)
        (model,) = ran.json["models"]
        assert (ran.code, model["success_count"], ran.json["missing"]) == (1, 2, 1), "errors leave too few"
        assert len(handles(folder)) == 2
        again = validated(folder, "anthropic", fake)
        assert (again.code, again.json["models"][0]["success_count"]) == (0, 3), again.err
        assert [len(batch) for batch in fake.asked] == [3, 1, 1, 1], "only what failed is asked again"
        assert "2*3" in json.dumps(fake.asked[2])


@pytest.mark.long
@pytest.mark.requirement("I14.2.51")
@pytest.mark.parametrize("state", ["expired", "canceled"])
def test_what_an_ended_batch_did_not_get_to_is_an_error(folder: Path, state: str) -> None:
    with served(AnthropicBatches, [[None, None, Said("Welcome.")]], state) as fake:
        ran = validated(folder, "anthropic", fake)
        (model,) = ran.json["models"]
        assert (ran.code, model["success_count"], ran.json["missing"]) == (1, 1, 2)
        errors = [error for scenario in model["scenarios"] for error in scenario.get("errors", ())]
        assert len(errors) == 2 and all(state[:6] in error for error in errors)


@pytest.mark.long
@pytest.mark.requirement("I14.2.51")
def test_a_batch_that_fails_as_a_whole_is_an_error_of_each_trial(folder: Path) -> None:
    with served(OpenAIBatches, TURNS, "failed") as fake:
        ran = validated(folder, "openai", fake)
        assert (ran.code, ran.json["missing"], len(fake.asked)) == (1, 3, 1)
        assert "Line 1 is no JSON" in ran.out


@pytest.mark.long
@pytest.mark.requirement("I14.2.52")
@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_comes_back_to_its_batch(folder: Path, ended_by: signal.Signals) -> None:
    with served(OpenAIBatches, TURNS, "in_progress") as fake:
        environment = {**os.environ, **held("openai", fake)}
        run = [sys.executable, "-m", "toolspan_bridge", *words("openai")]
        with subprocess.Popen(run, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as first:
            assert first.stderr is not None
            for line in first.stderr:
                if "waits for the batch batch_1" in line:
                    break
            first.send_signal(ended_by)
            if ended_by == signal.SIGINT:
                assert any("no more trials are begun" in line for line in first.stderr)
                first.send_signal(ended_by)  # the first one waits for the batch, which runs
            said = first.stderr.read()
            assert first.wait(BOUND_S) == (130 if ended_by == signal.SIGINT else -9)
        (handle,) = handles(folder)
        assert handle.stat().st_mode & 0o077 == 0 and KEY not in handle.read_text()
        if ended_by == signal.SIGINT:
            assert "toolspan batch cancel" in said and handle.name in said
        assert toolspan("batch", "status", str(handle), cwd=folder, **held("openai", fake)).code == 0
        fake.ends("completed")
        ran = validated(folder, "openai", fake)
        assert (ran.code, ran.json["models"][0]["success_count"]) == (0, 3), ran.err
        assert [len(batch) for batch in fake.asked] == [3, 2], "no request is paid twice"
        assert "goes on with the unfinished run" in ran.err and handles(folder) == []


@pytest.mark.requirement("I14.2.53")
def test_a_provider_without_batches_is_refused_before_anything_is_asked(folder: Path) -> None:
    with served(AnthropicBatches, TURNS, "ended") as fake:
        ran = validated(folder, "anthropic", fake, "-m", "offline/keyword")
        assert (ran.code, "offline has no batch service" in ran.error["message"]) == (2, True), ran.err
        assert (fake.received, handles(folder)) == ([], [])


@pytest.mark.requirement("I14.2.53")
@pytest.mark.parametrize(
    "others",
    [
        ("--record", "run.jsonl"),
        ("--quick",),
        ("--concurrency", "2"),
        ("--max-cost", "1"),
        ("--queue", "postgresql://127.0.0.1/none"),
        ("--against", "toolspan.yaml"),
    ],
)
def test_what_makes_no_sense_beside_batches_is_refused(folder: Path, others: Sequence[str]) -> None:
    with served(OpenAIBatches, TURNS, "completed") as fake:
        ran = validated(folder, "openai", fake, *others)
        assert (ran.code, "--batch" in ran.error["message"]) == (2, True), ran.err
        assert fake.received == []


@pytest.mark.long
@pytest.mark.requirement("I14.2.54")
def test_a_batch_is_counted_at_its_price_and_its_waits_are_no_times_of_the_model(folder: Path) -> None:
    model = "anthropic/claude-haiku-4-5"
    with served(AnthropicBatches, TURNS, "ended") as fake:
        ran = toolspan(
            "validate", "--batch", "--suite", "suite.yaml", "-m", model, "--json", cwd=folder,
            **held("anthropic", fake),
        )  # fmt: skip
        assert ran.code == 0, ran.err
    with Store.open(folder / ".toolspan" / STORE_FILE) as store:
        (thanks,) = (trial for trial in store.trials() if trial.scenario == "thanks")
    usage = Usage(**thanks.details["usage"])
    listed = cost_of("anthropic", "claude-haiku-4-5", usage)
    assert listed and thanks.usd == pytest.approx(listed / 2)
    assert not {"duration_ms", "ttft_ms"} & thanks.details.keys()
