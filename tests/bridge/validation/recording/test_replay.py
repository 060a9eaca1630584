"""A validation is recorded, and run again from the recording: the same bytes, and nobody is asked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

import pytest
from typing_extensions import override

from tests.support.cli import Ran, toolspan
from tests.support.fake_providers import Received, Sent
from tests.support.fake_providers.varying import VaryingModel
from tests.support.waiting import BOUND_S
from toolspan_bridge import Asker, Store, Toolbox, load_suite, servers_of, validate
from toolspan_bridge.validation import STORE_FILE, Trial
from toolspan_bridge.validation.between import Between
from toolspan_bridge.validation.recording import Recorded, Recorder, Replay, recording, replaying
from toolspan_server import load_config

pytestmark = pytest.mark.long

CONFIG = """\
tools:
  registry:
    - name: calculate
      description: Evaluate a mathematical expression
      parameters:
        type: object
        properties: {expression: {type: string}}
        required: [expression]
      implementation: {type: builtin, handler: math_eval}
"""
SUITE = """\
name: sums
scenarios:
  - {name: one, query: A number please, expect: {calls: [{tool: calculate}]}}
  - {name: two, query: Another one, expect: {calls: [{tool: calculate, arguments: {expression: 9+9}}]}}
"""
MODEL = "openai-chat/gpt-4o"
GUARD = """\
import sys
BANNED = {"socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen", "os.posix_spawn"}
def refuse(event, arguments):
    if event in BANNED:
        raise RuntimeError(f"a replay did {event} {arguments}")
sys.addaudithook(refuse)
from toolspan_bridge.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "suite.yaml").write_text(SUITE)
    return tmp_path


def validated(place: Path, *options: str, **environment: str) -> Ran:
    asked = ("validate", "-m", MODEL, "--suite", "suite.yaml", "--json")
    return toolspan(*asked, *options, cwd=place, **environment)


@dataclass
class Tape:
    """A recorded run: what it came to, and the address at which nobody answers any more."""

    place: Path
    ran: Ran
    records: str
    url: str

    @property
    def told(self) -> tuple[int, str, str]:
        return self.ran.code, self.ran.out, self.records

    def again(self, *options: str) -> Ran:
        return validated(self.place, "--replay", "run.jsonl", *options, OPENAI_BASE_URL=self.url)

    def replayed(self, *options: str) -> tuple[int, str, str]:
        ran = self.again(*options)
        return ran.code, ran.out, exported(self.place)


def recorded(place: Path, *options: str, errors: tuple[int, ...] = ()) -> Tape:
    with VaryingModel(errors) as model:
        ran = validated(place, "--record", "run.jsonl", *options, **model.environment)
        return Tape(place, ran, exported(place), model.environment["OPENAI_BASE_URL"])


def exported(place: Path) -> str:
    return (place / ".toolspan" / "validation.json").read_text()


def forgotten(place: Path) -> None:
    for each in (place / ".toolspan").iterdir():
        if each.is_file() and each.name not in (".mark", ".gitignore"):
            each.unlink()


@pytest.mark.requirement("I14.2.30")
def test_a_replay_has_the_report_and_the_records_of_the_recorded_run_byte_for_byte(place: Path) -> None:
    tape = recorded(place, "--trials", "3")
    assert (tape.ran.code, tape.ran.json["models"][0]["test_count"]) == (6, 6)
    assert tape.replayed("--trials", "3") == tape.told, "each trial is in the store once"
    forgotten(place)
    for _ in range(2):
        assert tape.replayed("--trials", "3") == tape.told


@pytest.mark.requirement("I14.2.30")
def test_errors_of_the_provider_are_replayed_as_they_were(place: Path) -> None:
    tape = recorded(place, "--trials", "2", errors=(1, 4))
    assert tape.ran.json["models"][0]["error_count"] == 2
    for _ in range(2):
        assert tape.replayed("--trials", "2") == tape.told


@pytest.mark.requirement("I14.2.94")
def test_a_recorded_run_that_ended_with_errors_is_gone_on_with_and_replayed_as_it_is_at_its_end(
    place: Path,
) -> None:
    with VaryingModel(errors=(1, 4)) as model:
        first = validated(place, "--trials", "2", "--record", "run.jsonl", **model.environment)
        assert first.json["models"][0]["missing"] == 2
        ran = validated(place, "--trials", "2", "--record", "run.jsonl", **model.environment)
        tape = Tape(place, ran, exported(place), model.environment["OPENAI_BASE_URL"])
    assert ran.json["models"][0]["missing"] == 0 and "2 of 4 trials are done" in ran.json["notices"][0]
    assert tape.replayed("--trials", "2") == tape.told, "each trial is in the store once"
    forgotten(place)
    for _ in range(2):
        assert tape.replayed("--trials", "2") == tape.told, "with the errors of the first time in the records"
    assert json.loads(tape.records)[0]["error_count"] == 2


@pytest.mark.requirement("I14.2.94")
def test_a_recorded_run_that_was_killed_goes_on_in_its_recording(place: Path) -> None:
    asked = [sys.executable, "-m", "toolspan_bridge", "validate", "-m", MODEL, "--suite", "suite.yaml"]
    with KillingModel() as model:
        command = [*asked, "--trials", "3", "--record", "run.jsonl"]
        environment = {**os.environ, **model.environment}
        with subprocess.Popen(command, cwd=place, env=environment, stderr=subprocess.DEVNULL) as process:
            model.kills(process.pid)
            assert process.wait(BOUND_S) == -signal.SIGKILL
        ran = validated(place, "--trials", "3", "--record", "run.jsonl", **model.environment)
        tape = Tape(place, ran, exported(place), model.environment["OPENAI_BASE_URL"])
    assert "trials are done" in ran.json["notices"][0]
    assert ran.json["models"][0]["test_count"] == 6
    forgotten(place)
    assert tape.replayed("--trials", "3") == tape.told


@pytest.mark.requirement("I14.2.94")
def test_what_was_made_before_it_was_recorded_is_told_and_missing_in_the_replay(place: Path) -> None:
    with VaryingModel(errors=(2,)) as model:
        first = validated(place, "--concurrency", "1", **model.environment)
        assert first.json["models"][0]["missing"] == 1
        ran = validated(place, "--record", "run.jsonl", **model.environment)
        tape = Tape(place, ran, exported(place), model.environment["OPENAI_BASE_URL"])
    assert (
        "run.jsonl is not whole: it lacks the trials that were made before the run was recorded (1)"
        in ran.err
    )
    assert ran.code == 1
    again = tape.again()
    assert (again.code, again.json["models"][0]["test_count"]) == (2, 1)
    assert "'one', trial 1: the recording has no scenario 'one'" in again.err


class KillingModel(VaryingModel):
    """Kills who asks it at the eighth request, with SIGKILL."""

    def __init__(self) -> None:
        super().__init__()
        self._process = Queue[int]()

    def kills(self, process: int) -> None:
        """Say which process."""
        self._process.put(process)

    @override
    def respond(self, request: Received) -> Sent:
        if len(self.received) == 7:
            os.kill(self._process.get(), signal.SIGKILL)
        return super().respond(request)


@pytest.mark.requirement("I14.2.31")
def test_a_replay_opens_no_connection_and_starts_no_process(place: Path) -> None:
    tape = recorded(place)
    forgotten(place)
    asked = ["validate", "-m", MODEL, "--suite", "suite.yaml", "--json", "--replay", "run.jsonl"]
    known = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI")}
    done = subprocess.run(
        [sys.executable, "-c", GUARD, *asked],
        cwd=place,
        env={**known, "OPENAI_BASE_URL": tape.url},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, exported(place)) == tape.told, done.stderr


@pytest.mark.anyio
@pytest.mark.requirement("I14.2.32")
async def test_trials_that_ran_at_once_are_each_replayed_with_their_own_replies(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_config(place / "toolspan.yaml")
    recorder = Recorder(place / "run.jsonl", str)
    with VaryingModel() as model:
        for name, value in model.environment.items():
            monkeypatch.setenv(name, value)
        async with Toolbox.connect(servers_of(config)) as toolbox:
            recorder.keep_tools(toolbox)
            before = await trials_of(place, toolbox, recording(recorder), "first")
    recorder.close()
    replay = Replay(Recorded.read(place / "run.jsonl"), str)
    again = await trials_of(place, replay.toolbox(), replaying(replay), "second")
    assert len({json.dumps(trial.details["tool_calls"]) for trial in before}) == 16, "no two are alike"
    assert again == before


async def trials_of(place: Path, toolbox: Toolbox, between: Between, store: str) -> list[Trial]:
    config, suite = load_config(place / "toolspan.yaml"), load_suite(place / "suite.yaml")
    with Store.open(place / store / STORE_FILE) as kept:
        async with Asker(config, toolbox, between=between) as asker:
            await validate(
                [MODEL],
                suite,
                asker.ask,
                between.kept_in(kept),
                trials=8,
                concurrency=8,
                fingerprint_of=asker.fingerprint,
                made=between.made,
            )
        return kept.trials()


@pytest.mark.requirement("I14.2.33")
def test_what_is_not_in_the_recording_is_an_error_of_its_trial_that_says_what_differs(place: Path) -> None:
    tape = recorded(place)
    (place / "suite.yaml").write_text(SUITE.replace("A number please", "A letter please"))
    ran = tape.again()
    (model,) = ran.json["models"]
    assert (ran.code, model["error_count"], model["test_count"]) == (2, 1, 1), "the other is as recorded"
    assert "request 1 is not in the recording: message 1, of the user, is another one" in ran.err
    assert "'one', trial 1" in ran.err and "are not kept" in ran.err
    more = tape.again("--trials", "2")
    assert "'two', trial 2: the recording has no trial 2 of this scenario" in more.err
    (place / "suite.yaml").write_text(SUITE.replace("name: two", "name: twi"))
    assert "the recording has no scenario 'twi' (did you mean 'two'?)" in tape.again().err
    asked = ("validate", "-m", "openai-chat/gpt-4", "--suite", "suite.yaml", "--replay", "run.jsonl")
    other = toolspan(*asked, cwd=place)
    assert (other.code, "has no model 'openai-chat/gpt-4'" in other.err + other.out) == (2, True)


@pytest.mark.requirement("I14.2.33")
def test_other_expectations_are_judged_by_the_recorded_answers_in_a_record_of_their_own(place: Path) -> None:
    tape = recorded(place)
    assert not tape.ran.json["passed"]
    (place / "suite.yaml").write_text(SUITE.replace(", arguments: {expression: 9+9}", ""))
    for _ in range(2):
        again = tape.again()
        assert (again.code, again.json["models"][0]["all_runs"]["test_count"]) == (0, 2)
    counts = [record["test_count"] for record in json.loads(exported(place))]
    assert counts == [2, 2], "of the recorded suite, and of the other one"


@pytest.mark.requirement("I14.2.34")
def test_a_recording_is_private_and_holds_no_secret(place: Path) -> None:
    (place / "toolspan.yaml").write_text(
        CONFIG
        + """\
    - name: leak
      description: Leak it
      implementation: {type: mock, response: {secret: "${LEAKED}", looks: ghp_abcdefghijklmnopqrst}}
"""
    )
    (place / "suite.yaml").write_text(
        'name: s\nscenarios: [{query: "leak the secret", expect: {calls: [{tool: leak}]}}]'
    )
    secrets = {"LEAKED": "correct-horse-battery", "SOME_API_KEY": "a-key-of-the-environment"}
    ran = toolspan(
        "validate",
        "--suite",
        "suite.yaml",
        "--record",
        "--json",
        "--config",
        "toolspan.yaml",
        cwd=place,
        **secrets,
    )
    (path,) = (place / ".toolspan" / "recordings").iterdir()
    text = path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert "***" in text and not [each for each in (*secrets.values(), "ghp_abcdefgh") if each in text]
    again = toolspan(
        "validate", "--suite", "suite.yaml", "--replay", str(path), "--json", cwd=place, **secrets
    )
    assert (again.code, again.out) == (ran.code, ran.out)


@pytest.mark.requirement("I14.2.35")
def test_a_recording_that_was_cut_in_a_line_holds_what_was_whole(place: Path) -> None:
    tape = recorded(place, "--trials", "2")
    path = place / "run.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    ends = [at for at, line in enumerate(lines) if line.startswith(b'{"trial"')]
    path.write_bytes(b"".join(lines[: ends[1] + 1]) + lines[ends[1] + 1][:40])
    ran = tape.again("--trials", "2")
    assert ran.code == 2 and ran.json["models"][0]["test_count"] == 2, "two of four trials"
    assert "is another one" not in ran.err


@pytest.mark.requirement("I14.2.35")
def test_a_damaged_line_and_another_file_are_refused_with_their_place(place: Path) -> None:
    tape = recorded(place)
    path = place / "run.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"{]\n", *lines[4:]]))
    assert "run.jsonl:4: no line of a recording: it is no JSON" in tape.again().err
    path.write_text(CONFIG)
    refused = tape.again()
    assert (refused.code, "run.jsonl:1" in refused.err) == (2, True)


@pytest.mark.requirement("I14.2.35")
def test_a_file_that_is_there_is_not_written_over(place: Path) -> None:
    tape = recorded(place)
    before = (place / "run.jsonl").read_bytes()
    with VaryingModel() as model:
        ran = validated(place, "--record", "run.jsonl", **model.environment)
        assert model.received == []
    assert (ran.code, (place / "run.jsonl").read_bytes()) == (2, before)
    assert "of another run" in ran.err and tape.replayed() == tape.told


def test_recording_and_replaying_at_once_is_refused(place: Path) -> None:
    assert validated(place, "--record", "--replay", "x").code == 2
    assert toolspan("validate", "--answers", "-", "--record", cwd=place).code == 2
