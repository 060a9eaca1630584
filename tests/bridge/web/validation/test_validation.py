"""Validation over the API, by a real server: suites, runs in the background, their events, what is kept."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import httpx2
import pytest
import yaml

pytestmark = [pytest.mark.long, pytest.mark.requirement("I15.1.70")]

BOUND_S = 60
CONFIG = {
    "version": 1,
    "tools": {
        "registry": [
            {
                "name": "add",
                "description": "Adds.",
                "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
                "implementation": {"type": "mock", "response": {"ok": True}},
            }
        ]
    },
}
SUITE = {
    "scenarios": [
        {"name": "one", "query": "add one", "expect": {"calls": [{"tool": "add"}]}},
        {"name": "two", "query": "say hi", "expect": {"no_calls": True}},
    ]
}


@contextmanager
def _served(folder: Path, config: Any = CONFIG) -> Iterator[httpx2.Client]:
    (folder / "toolspan.yaml").write_text(yaml.safe_dump(config))
    (folder / "adding.yaml").write_text(yaml.safe_dump(SUITE))
    command = [sys.executable, "-m", "toolspan_bridge", "gateway", "-c", "toolspan.yaml", "--port", "0"]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        line = cast("IO[str]", process.stderr).readline()
        found = re.search(r"http://([0-9.:]+)/", line)
        assert found, line
        base = f"http://{found.group(1)}/api/validation"
        with httpx2.Client(base_url=base, timeout=BOUND_S) as client:
            yield client
    finally:
        process.terminate()
        process.communicate(timeout=BOUND_S)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    with _served(tmp_path_factory.mktemp("app")) as client:
        yield client


def _start(api: httpx2.Client, **more: Any) -> dict[str, Any]:
    wanted = {"suites": ["adding"], "models": ["offline/keyword"], **more}
    answer = api.post("/runs", json=wanted)
    assert answer.status_code == 202, answer.text
    return cast("dict[str, Any]", answer.json())


def _events(api: httpx2.Client, run: str, after: int = 0) -> list[tuple[int, str, dict[str, Any]]]:
    """The events until the run is over: the server ends the stream then."""
    text = api.get(f"/runs/{run}/events", headers={"Last-Event-ID": str(after)} if after else {}).text
    blocks = [dict(line.split(": ", 1) for line in each.splitlines()) for each in text.split("\n\n") if each]
    return [(int(each["id"]), each["event"], json.loads(each["data"])) for each in blocks if "id" in each]


def test_suites_are_those_beside_the_config_by_name_without_paths(api: httpx2.Client) -> None:
    found = api.get("/suites").json()["suites"]
    assert [(each["name"], each["scenarios"]) for each in found] == [("adding", 2), ("default", 4)]
    for name in ("../adding", "/etc/passwd", "toolspan"):
        refused = api.post("/runs", json={"suites": [name], "models": ["offline/keyword"]})
        assert refused.status_code == 422 and "there is no suite" in refused.json()["detail"]


def test_a_run_is_followed_to_its_end_and_again_from_where_a_reader_left(api: httpx2.Client) -> None:
    run = _start(api, trials=2)["id"]
    events = _events(api, run)
    assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
    names = [name for _, name, _ in events]
    assert names[0] == "run_started" and names[-1] == "run_ended"
    assert (names.count("trial_started"), names.count("trial_finished")) == (4, 4)
    assert _events(api, run, after=3) == events[3:]
    told = api.get(f"/runs/{run}").json()
    assert (told["state"], told["total"], told["finished"]) == ("done", 4, 4)
    assert told["report"]["models"][0]["test_count"] == 4
    assert told["id"] in [each["id"] for each in api.get("/runs").json()["runs"]]


def test_what_was_run_is_in_the_matrix_the_trials_the_history_and_the_badge(api: httpx2.Client) -> None:
    run = _start(api)
    _events(api, run["id"])
    stored = api.get(f"/runs/{run['id']}").json()["run"]
    trials = api.get("/trials", params={"run": stored, "limit": "1"}).json()
    rest = api.get("/trials", params={"run": stored, "cursor": trials["next_cursor"]}).json()
    assert {each["scenario"] for each in trials["trials"] + rest["trials"]} == {"one", "two"}
    assert rest["next_cursor"] is None and "tool_calls" in trials["trials"][0]["details"]
    (cell,) = [each for each in api.get("/matrix").json()["cells"] if each["suite"] == "adding"]
    assert cell["model"] == "offline/keyword" and cell["badge"]["low"] <= cell["badge"]["rate"]
    (record,) = api.get("/history", params={"suite": "adding"}).json()["records"]
    assert record["badge"] == cell["badge"] and record["fingerprint"]["provider"] == "offline"
    badge = api.get("/badge", params={"model": "offline/keyword", "suite": "adding"})
    assert badge.headers["content-type"].startswith("image/svg+xml") and badge.text.startswith("<svg")


def test_two_runs_are_compared(api: httpx2.Client) -> None:
    runs = [_start(api)["id"] for _ in range(2)]
    for run in runs:
        _events(api, run)
    before, after = [api.get(f"/runs/{run}").json()["run"] for run in runs]
    found = api.get("/compare", params={"before": before, "after": after}).json()
    assert {each["change"] for each in found["cells"]} == {"same"}
    assert api.get("/compare", params={"before": before, "after": "none"}).status_code == 404


def test_the_runs_of_the_store_and_the_scenarios_of_each_cell_are_listed(api: httpx2.Client) -> None:
    run = _start(api, trials=2)["id"]
    _events(api, run)
    stored, known = (
        api.get("/stored-runs", params={"limit": 1}).json()["runs"],
        api.get(f"/runs/{run}").json(),
    )
    [latest] = stored
    assert latest["run"] == known["run"] and latest["finished"]
    assert (latest["models"], latest["suites"], latest["trials"]) == (["offline/keyword"], ["adding"], 2)
    [cell] = [each for each in api.get("/matrix").json()["cells"] if each["suite"] == "adding"]
    scenarios = {each["scenario"]: each for each in cell["scenarios"]}
    assert set(scenarios) == {"one", "two"}
    assert sum(each["n"] for each in cell["scenarios"]) == cell["badge"]["n"]
    assert api.get("/stored-runs", params={"limit": 0}).status_code == 422


def test_a_run_that_is_cancelled_begins_no_more_trials_and_a_third_one_has_to_wait(tmp_path: Path) -> None:
    # a model that never answers, so that the runs last until they are cancelled
    waits = {"turns": [{"silent": True}]}
    with _served(tmp_path) as api:
        (tmp_path / "slow.yaml").write_text(yaml.safe_dump(waits))
        runs = [_start(api, models=["scripted/slow.yaml"])["id"] for _ in range(2)]
        refused = api.post("/runs", json={"suites": ["adding"], "models": ["offline/keyword"]})
        assert refused.status_code == 429 and "at most 2 of yours" in refused.json()["detail"]
        for run in runs:
            first = api.post(f"/runs/{run}/cancel", json={})
            assert first.status_code == 202, first.text
            assert first.json()["state"] == "stopping"
            assert api.post(f"/runs/{run}/cancel", json={}).status_code == 202
            assert _events(api, run)[-1][2]["state"] == "cancelled"
        assert api.get("/matrix").json()["cells"] == []


def test_a_principal_sees_its_own_runs_alone(tmp_path: Path) -> None:
    tokens = {name: f"token-of-{name}-0123456789" for name in ("ann", "bob")}
    auth = {"tokens": [{"name": name, "token": token} for name, token in tokens.items()]}
    with _served(tmp_path, config={**CONFIG, "auth": auth}) as api:
        assert api.get("/runs").status_code == 401
        api.headers["Authorization"] = f"Bearer {tokens['ann']}"
        run = _start(api)["id"]
        api.headers["Authorization"] = f"Bearer {tokens['bob']}"
        assert api.get("/runs").json()["runs"] == []
        for answer in (
            api.get(f"/runs/{run}"),
            api.post(f"/runs/{run}/cancel", json={}),
            api.get(f"/runs/{run}/events"),
        ):
            assert answer.status_code == 404


def test_values_that_cannot_be_are_named(api: httpx2.Client) -> None:
    refused = api.post("/runs", json={"suites": ["adding"], "models": ["offline/keyword"], "trials": 0})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/trials")
    assert api.get("/runs/none").status_code == 404
    assert api.get("/trials", params={"cursor": "x"}).status_code == 422
