"""The API of conversations over a real socket: broken streams, clients side by side, a killed server."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.background import model_in, written
from tests.support.waiting import BOUND_S

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("state"), pytest.mark.requirement("I15.1.32")]


@dataclass
class Served:
    """A gateway in a process of its own, and a client of it."""

    process: subprocess.Popen[str]
    client: httpx2.Client

    def post(self, path: str, body: dict[str, Any] | None = None, **headers: str) -> httpx2.Response:
        """POST ``body`` as JSON."""
        return self.client.post(f"/api/conversations{path}", json=body or {}, headers=headers)

    def get(self, path: str = "", **headers: str) -> Any:
        """What GET gives."""
        return self.client.get(f"/api/conversations{path}", headers=headers).json()

    def begin(self, folder: Path) -> str:
        """The id of a new conversation with the scripted model."""
        made = self.post("", {"model": model_in(folder)})
        assert made.status_code == 201, made.text
        return str(made.json()["id"])

    def events(self, talk: str, last: int | None = None) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """The events after ``last``, as they come."""
        headers = {} if last is None else {"Last-Event-ID": str(last)}
        with self.client.stream("GET", f"/api/conversations/{talk}/events", headers=headers) as stream:
            assert stream.status_code == 200
            frame: dict[str, str] = {}
            for line in stream.iter_lines():
                key, _, value = line.partition(": ")
                if key in ("id", "event", "data"):
                    frame[key] = value
                elif frame:
                    yield int(frame["id"]), frame["event"], json.loads(frame["data"])
                    frame = {}

    def until(self, talk: str, name: str, last: int | None = None) -> list[tuple[int, str, dict[str, Any]]]:
        """The events up to the first of that ``name``; then the connection is closed."""
        found: list[tuple[int, str, dict[str, Any]]] = []
        for event in self.events(talk, last):
            found.append(event)
            if event[1] == name:
                return found
        raise AssertionError(f"the stream ended without {name}: {[event[1] for event in found]}")


@contextmanager
def served(config: Path) -> Generator[Served]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "toolspan_bridge",
        "gateway",
        "--config",
        str(config),
        "--port",
        str(port),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=config.parent)
    try:
        assert process.stderr is not None
        said = next((line for line in process.stderr if re.search(r"http://127\.0\.0\.1", line)), "")
        assert said, "the gateway does not start"
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=BOUND_S) as client:
            yield Served(process, client)
    finally:
        process.kill()
        process.wait(30)
        if process.stderr is not None:
            process.stderr.close()


def test_two_clients_see_the_same_events_and_a_stream_that_broke_off_goes_on(tmp_path: Path) -> None:
    with (
        served(written(tmp_path)) as one,
        httpx2.Client(base_url=one.client.base_url, timeout=BOUND_S) as own,
    ):
        other = Served(one.process, own)
        talk = one.begin(tmp_path)
        for text in ("count", "look"):
            assert one.post(f"/{talk}/messages", {"text": text}).status_code == 202
            whole = one.until(talk, "run_ended")
            broken = other.until(talk, "iteration")
            rest = other.until(talk, "run_ended", broken[-1][0])
            assert [*broken, *rest] == whole
        messages = one.get(f"/{talk}")["messages"]
    assert [each["text"] for each in messages if each["role"] == "user"] == ["count", "look"]


def test_one_key_gives_one_run_and_an_approval_of_two_clients_counts_once(tmp_path: Path) -> None:
    with served(written(tmp_path)) as app:
        talk = app.begin(tmp_path)
        key = {"Idempotency-Key": "click"}
        runs = [app.post(f"/{talk}/messages", {"text": "remove it"}, **key) for _ in range(2)]
        assert {answer.status_code for answer in runs} == {202}
        assert len({answer.json()["run"]["id"] for answer in runs}) == 1
        reused = app.post(f"/{talk}/messages", {"text": "another"}, **key)
        asked = app.until(talk, "approval_requested")[-1]
        place = f"/{talk}/answers/{asked[2]['request']}"
        answers = [app.post(place, {"decision": "deny", "reason": "no"}).status_code for _ in range(2)]
        rest = app.until(talk, "run_ended", asked[0])
        later = app.post(f"/{talk}/messages", {"text": "remove it"}, **key).json()["run"]["state"]
        found = app.get(f"/{talk}")
    assert reused.status_code in (409, 422)
    assert answers == [204, 409]
    (result,) = [data["result"] for _, name, data in rest if name == "tool_result"]
    assert result["error_code"] == "denied"
    assert [each["role"] for each in found["messages"]].count("user") == 1
    assert later in ("answered", "running")  # the same run, whatever was remembered of its answer


def test_a_killed_server_runs_nothing_that_waited_and_the_conversation_goes_on(tmp_path: Path) -> None:
    config = written(tmp_path)
    with served(config) as app:
        talk = app.begin(tmp_path)
        app.post(f"/{talk}/messages", {"text": "remove it"})
        asked = app.until(talk, "approval_requested")[-1]
        app.process.kill()
        app.process.wait(30)
    with served(config) as app:
        found = app.get(f"/{talk}")
        answer = app.post(f"/{talk}/answers/{asked[2]['request']}", {"decision": "allow_once"})
        again = app.until(talk, "reset", asked[0])[-1]
        app.post(f"/{talk}/messages", {"text": "hello"})
        told = app.until(talk, "run_ended", again[0])
    assert (answer.status_code, found["pending"], found["run"]) == (404, [], None)
    (call,) = [call for each in found["messages"] for call in each.get("tool_calls", ())]
    assert call["result"]["error_code"] == "cancelled"
    assert [data["content"] for _, name, data in told if name == "answer"] == ["Hello."]


def test_what_is_refused_is_a_problem_with_what_is_wrong(tmp_path: Path) -> None:
    with served(written(tmp_path)) as app:
        talk = app.begin(tmp_path)
        refused = [
            app.post("", {"model": "nobody"}),
            app.post("", {"what": 1}),
            app.post(f"/{talk}/messages", {"text": ""}),
            app.post(f"/{talk}/messages", {"text": "x", "attachments": [{"name": "a", "data": "?"}]}),
            app.post("/0123456789abcdef/messages", {"text": "x"}),
            app.post(f"/{talk}/fork", {"questions": 3}),
            app.post(f"/{talk}/answers/x", {"decision": "deny"}),
            app.client.get(f"/api/conversations/{talk}/events", headers={"Last-Event-ID": "x"}),
            app.client.get(f"/api/conversations/{talk}/export?format=exe"),
        ]
        retried = app.post(f"/{talk}/retry")
        failed = app.until(talk, "run_ended")
    assert [each.status_code for each in refused] == [422, 422, 422, 422, 404, 422, 404, 400, 422]
    assert {each.headers["content-type"] for each in refused} == {"application/problem+json"}
    assert retried.status_code == 202
    assert [data["code"] for _, name, data in failed if name == "error"] == ["usage"]
