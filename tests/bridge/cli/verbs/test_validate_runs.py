"""``toolspan validate``: what is run, what ends it early, and how it goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import Ran, toolspan, toolspan_process
from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.waiting import BOUND_S, eventually
from toolspan_bridge.validation import Store

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
  - {name: thanks, query: Thank you!, expect: {no_calls: true}}
"""
STUCK = "answers: [{to: 2+2, turns: [{text: x, silent: true}]}, {turns: [{text: fine}]}]"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "other.yaml").write_text(SUITE.replace("name: sums", "name: more"))
    return tmp_path


def validated(place: Path, *options: str) -> Ran:
    return toolspan("validate", "--suite", "suite.yaml", *options, cwd=place)


@pytest.mark.requirement("I14.2.4")
def test_suites_are_run_together_and_each_has_its_row(place: Path) -> None:
    ran = validated(place, "--suite", "other.yaml", "--trials", "2", "--concurrency", "4", "--json")
    assert ran.code == 0, ran.err
    assert [(row["suite"], row["test_count"]) for row in ran.json["models"]] == [("sums", 4), ("more", 4)]


@pytest.mark.requirement("I14.2.4")
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--suite", "suite.yaml"), "several suites are called 'sums'"),
        (("--mode", "prompt"), "offline/keyword takes no prompt"),
        (("--max-time", "3x"), "is no time: write seconds, or as in 90s, 10m or 1.5h"),
        (("--max-time", "0"), "is no time"),
        (("--max-cost", "0"), "0 is not in the range"),
        (("--concurrency", "0"), "0 is not in the range"),
        (("--quick", "--trials", "3"), "--quick asks each scenario once"),
        (("--wordings", "--suite", "other.yaml"), "--wordings tries every mode with one suite"),
        (("-m", "vllm/unknown", "--max-cost", "1"), "no price is known of vllm/unknown"),
        (("--baseline", "nothing.json"), "nothing.json cannot be read"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_recorded(
    place: Path, options: tuple[str, ...], told: str
) -> None:
    ran = validated(place, *options)
    assert (ran.code, told in ran.err) == (2, True), ran.err
    assert not (place / ".toolspan" / "validation.json").exists()


@pytest.mark.requirement("I14.2.4")
def test_a_model_that_takes_no_prompt_is_said_to_be_left_out_of_that_mode(place: Path) -> None:
    ran = validated(place, "--mode", "all", "--json")
    assert [(row["model_id"], row["test_count"]) for row in ran.json["models"]] == [("offline/keyword", 2)]
    assert "offline/keyword takes no prompt: it is tried by its native calls alone" in ran.err
    assert "takes no prompt" not in validated(place, "--mode", "native").err


@pytest.mark.requirement("I14.2.5")
def test_a_quick_look_says_that_it_is_one(place: Path) -> None:
    ran = validated(place, "--quick", "--json")
    assert (ran.code, ran.json["models"][0]["test_count"]) == (0, 2)
    assert "a quick look: 2 of 2 scenarios, once each, for at most 60 s" in ran.err


@pytest.mark.requirement("I14.2.12")
def test_a_run_that_is_worse_than_its_baseline_ends_with_6(place: Path) -> None:
    (place / "good.yaml").write_text('answers: [{to: sum, turns: [{text: "4"}]}, {turns: [{text: fine}]}]')
    (place / "plain.yaml").write_text(
        "name: plain\\nscenarios: [{name: four, query: A sum?, expect: {answer: '4'}}]".replace("\\n", "\n")
    )
    command = ("-m", "scripted/good.yaml", "--trials", "20", "--threshold", "0")
    assert toolspan("validate", "--suite", "plain.yaml", *command, cwd=place).code == 0
    before = toolspan("report", "--format", "json", "-o", "before.json", cwd=place)
    assert before.code == 0, before.err
    same = toolspan("validate", "--suite", "plain.yaml", *command, "--baseline", "before.json", cwd=place)
    assert same.code == 0, same.err

    (place / "good.yaml").write_text("answers: [{turns: [{text: no idea}]}]")
    worse = toolspan(
        "validate", "--suite", "plain.yaml", *command, "--baseline", "before.json", "--json", cwd=place
    )

    assert worse.code == 6
    changes = {(cell["scenario"], cell["change"]) for cell in worse.json["comparison"]["cells"]}
    assert changes == {(None, "worse"), ("four", "worse")}
    assert "four is worse than the baseline" in worse.err


@pytest.mark.long
@pytest.mark.requirement("I14.2.7")
def test_a_run_whose_time_is_up_goes_on_with_the_same_command(place: Path) -> None:
    script = place / "model.yaml"
    script.write_text(STUCK)
    command = ("--suite", "suite.yaml", "-m", f"scripted/{script}", "--concurrency", "2", "--json")
    first = toolspan_process("validate", *command, "--max-time", "4s", cwd=place)
    assert (first.code, first.json["ended"], first.json["missing"]) == (9, "max_time", 1)
    script.write_text(
        "answers: [{turns: [{calls: [{tool: calculate, arguments: {expression: 2+2}}]}, {text: '4'}]}]"
    )
    second = toolspan_process("validate", *command, cwd=place)
    assert "goes on with the unfinished run" in second.err
    assert (second.json["missing"], second.json["models"][0]["test_count"]) == (0, 2)


@pytest.mark.long
@pytest.mark.requirement("I14.2.8")
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_ends_a_run_that_can_be_gone_on_with(place: Path, presses: int) -> None:
    """After the first one the trials that run may end, after the second they may not."""
    (place / "model.yaml").write_text(STUCK)
    command = ["validate", "--suite", "suite.yaml", "-m", "scripted/model.yaml", "--concurrency", "2"]
    command += ["--trials", "3"]
    command += ["--timeout", "8s" if presses == 1 else "10m"]
    with subprocess.Popen(
        [sys.executable, "-m", "toolspan_bridge", *command], cwd=place, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        _once_recorded(place / ".toolspan" / "validation.sqlite3")
        process.send_signal(signal.SIGINT)
        told = process.stderr.readline()
        if presses == 2:
            process.send_signal(signal.SIGINT)
        told += process.stderr.read()
        code = process.wait(BOUND_S)
    assert code == 130
    assert "no more trials are begun; 2 that are running may end" in told
    (place / "model.yaml").write_text("answers: [{turns: [{text: fine}]}]")
    again = toolspan_process("validate", *command[1:], "--json", cwd=place)
    assert f"{3 if presses == 1 else 1} of 6 trials are done" in again.err
    assert (again.json["missing"], again.json["models"][0]["test_count"]) == (0, 6)


@pytest.mark.long
@pytest.mark.requirement("I14.2.2")
def test_a_rate_limit_makes_a_run_slower_and_fails_nothing(place: Path) -> None:
    answer = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "4"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    refusal = Sent({"error": {"message": "slow down"}}, status=429, headers={"retry-after": "1"})
    (place / "plain.yaml").write_text("scenarios: [{query: A sum?, expect: {answer: '4'}}]")
    with FakeProvider(anything, [*[refusal] * 8, *[Sent(answer)] * 20]) as fake:
        keys = {"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": f"{fake.url}/v1"}
        command = ("--suite", "plain.yaml", "-m", "openai-chat/gpt-4o", "--trials", "6", "--concurrency", "3")
        ran = toolspan_process("validate", *command, "--json", cwd=place, **keys)
    (model,) = ran.json["models"]
    assert (ran.code, model["test_count"], model["success_count"], model["error_count"]) == (0, 6, 6, 0)
    assert ran.err.count("the rate limit of openai-chat was reached") == 1


@pytest.mark.requirement("I14.2.13")
def test_a_trial_keeps_when_its_first_token_came_and_what_its_format_lost(place: Path) -> None:
    ran = validated(place, "--trials", "1")
    assert ran.code == 0, ran.err
    with Store.open(place / ".toolspan" / "validation.sqlite3") as store:
        for trial in store.trials():
            assert 0 <= trial.details["ttft_ms"] <= trial.details["duration_ms"]
            assert json.dumps(dict(trial.details))


def _once_recorded(path: Path) -> None:
    """Wait until a trial is in the store at ``path``."""

    def is_there() -> bool:
        if not path.exists():
            return False
        with Store.open(path) as store:
            return bool(store.trials())

    assert eventually(is_there)
