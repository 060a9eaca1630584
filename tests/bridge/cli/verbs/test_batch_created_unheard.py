"""``toolspan validate --batch`` that is killed while it creates a batch: nothing is paid twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.bridge.cli.verbs.test_validate_batch import (
    CONFIG,
    KEY,
    PLACES,
    SUITE,
    TURNS,
    handles,
    held,
    served,
    validated,
    words,
)
from tests.support.cli import toolspan
from tests.support.fake_providers import Received, Sent
from tests.support.fake_providers.batches import Answer
from tests.support.waiting import BOUND_S

pytestmark = [pytest.mark.long, pytest.mark.requirement("I14.2.93")]

CREATING = {"openai": "/batches", "anthropic": "/batches", "gemini": ":batchGenerateContent"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "suite.yaml").write_text(SUITE)
    return tmp_path


def noted(folder: Path) -> list[Path]:
    return sorted((folder / ".toolspan").glob("batches/*/*.intended"))


class Hold:
    """Holds back the answer to the first post to an address of that end, which ``fake`` carries out."""

    def __init__(self, fake: Any, held_at: str) -> None:
        self.carried_out, self.let_go = threading.Event(), threading.Event()
        self._answered, self._held_at = fake.respond, held_at
        fake.respond = self._respond

    def _respond(self, request: Received) -> Sent:
        sent: Sent = self._answered(request)
        if request.method == "POST" and request.target.endswith(self._held_at) and not self.let_go.is_set():
            self.carried_out.set()
            self.let_go.wait(BOUND_S)
            return Sent(hang_up=True)  # nobody is there any more
        return sent


@contextmanager
def killed(folder: Path, name: str, held_at: str, rounds: Sequence[Sequence[Answer]]) -> Generator[Any]:
    """A service at which a run was killed before it heard of its first post to such an address."""
    fake_service, *_, ended = PLACES[name]
    with served(fake_service, rounds, ended) as fake:
        hold = Hold(fake, held_at)
        run = [sys.executable, "-m", "toolspan_bridge", *words(name)]
        with subprocess.Popen(run, cwd=folder, env={**os.environ, **held(name, fake)}) as process:
            assert hold.carried_out.wait(BOUND_S)
            process.kill()
            process.wait(BOUND_S)
        hold.let_go.set()
        assert handles(folder) == []
        [intended] = noted(folder)
        assert intended.stat().st_mode & 0o077 == 0 and KEY not in intended.read_text()
        edit(intended, at="2026-11-24T05:00:00+00:00")  # the time that such a post may take is over
        yield fake


def edit(intended: Path, **changed: Any) -> None:
    intended.write_text(json.dumps({**json.loads(intended.read_text()), **changed}))


@pytest.mark.parametrize("name", ["openai", "gemini"])
def test_a_batch_that_was_created_unheard_is_found_by_its_mark(folder: Path, name: str) -> None:
    with killed(folder, name, CREATING[name], TURNS) as fake:
        ran = validated(folder, name, fake)
        assert (ran.code, ran.json["models"][0]["success_count"]) == (0, 3), ran.err
        assert "though its answer was lost: it is used" in ran.err
        assert [len(batch) for batch in fake.asked] == [3, 2], "no request is paid twice"
        assert (handles(folder), noted(folder), fake.refused) == ([], [], [])


def test_a_batch_that_was_not_created_is_created_then(folder: Path) -> None:
    with killed(folder, "openai", "/files", [TURNS[0], TURNS[0], TURNS[1]]) as fake:
        ran = validated(folder, "openai", fake)
        assert (ran.code, ran.json["models"][0]["success_count"]) == (0, 3), ran.err
        assert "was not created: its requests are asked now" in ran.err
        created = [each for each in fake.received if (each.method, each.target) == ("POST", "/v1/batches")]
        assert len(created) == 2 and noted(folder) == []


def test_where_nothing_tells_a_person_decides_before_anything_is_paid_twice(folder: Path) -> None:
    with killed(folder, "anthropic", CREATING["anthropic"], [*TURNS, *TURNS]) as fake:
        fake.received.clear()
        for _ in range(2):
            ran = validated(folder, "anthropic", fake)
            assert ran.code == 2 and "may have been created" in ran.error["message"], ran.err
            assert str(noted(folder)[0].name) in ran.error["message"]
        assert fake.received == []
        [intended] = noted(folder)
        batch = json.loads(intended.read_text())["batch"]
        edit(intended, batch={**batch, "id": "msgbatch_1"})
        ran = validated(folder, "anthropic", fake)
        assert (ran.code, ran.json["models"][0]["success_count"]) == (0, 3), ran.err
        assert [len(each) for each in fake.asked] == [3, 2] and noted(folder) == []


def test_what_a_person_says_was_not_created_is_asked_again(folder: Path) -> None:
    with killed(folder, "anthropic", CREATING["anthropic"], [TURNS[0], *TURNS]) as fake:
        noted(folder)[0].unlink()
        ran = validated(folder, "anthropic", fake)
        assert (ran.code, ran.json["models"][0]["success_count"]) == (0, 3), ran.err
        assert [len(each) for each in fake.asked] == [3, 3, 2]


@pytest.mark.parametrize("name", PLACES)
def test_a_batch_whose_answer_is_lost_is_noted_and_one_that_is_refused_is_not(
    folder: Path, name: str
) -> None:
    fake_service, *_, ended = PLACES[name]
    with served(fake_service, [TURNS[0]] * 9, ended) as fake:
        key = {f"{name.upper()}_API_KEY": "sk-of-nobody"}
        refused = toolspan(*words(name), cwd=folder, **{**held(name, fake), **key})
        assert refused.code == 1 and len(fake.refused) == 1, refused.err
        assert (handles(folder), noted(folder)) == ([], [])
        fake.refused.clear()
        fake.losing, fake.lost = f"{CREATING[name]}$", 1
        lost = validated(folder, name, fake)
        assert lost.code == 4 and "may have been created" in lost.out + lost.err
        assert (handles(folder), len(noted(folder))) == ([], 1)
    again = validated(folder, name, fake)
    assert again.code == (2 if name == "anthropic" else 4), "nobody listens any more"
    assert len(noted(folder)) == 1
