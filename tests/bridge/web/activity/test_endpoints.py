"""The activity over the API of a running server."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import BOUND_S
from toolspan_bridge.web.activity import About, ActivityLog, Entry

pytestmark = [pytest.mark.long, pytest.mark.requirement("I15.1.50")]
CONFIG = """
tools:
  registry: [{name: weather, description: Weather, implementation: {type: mock, mock_response: sunny}}]
"""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A gateway over the config in ``folder``, at this address."""
    command = [
        sys.executable,
        "-m",
        "toolspan_bridge",
        "gateway",
        "-c",
        str(folder / "toolspan.yaml"),
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if "the gateway is at" in line:
                    yield line.split(" at ")[1].split("/v1")[0]
                    return
        finally:
            process.terminate()
            process.stderr.close()
        raise AssertionError("the gateway did not start")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[ActivityLog]:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    with closing(ActivityLog(tmp_path / ".toolspan")) as log:
        yield log


def got(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=BOUND_S) as answer:
        return json.load(answer)


def refused(url: str) -> Any:
    with pytest.raises(urllib.error.HTTPError) as error, urllib.request.urlopen(url, timeout=BOUND_S):
        pass
    with error.value as answer:
        return json.load(answer)


def run(number: int, status: Any = "ok") -> Entry:
    return Entry(
        "run", time.time(), About("token ann", key="ci"), f"m{number}", "openai", status=status, usd=0.5
    )


def test_entries_are_listed_filtered_paged_and_summed(log: ActivityLog, tmp_path: Path) -> None:
    log.append([run(1), run(2, "error"), run(1)])
    with served(tmp_path) as base:
        first = got(f"{base}/api/activity?limit=2")
        assert [each["id"] for each in first["activity"]] == [3, 2]
        rest = got(f"{base}/api/activity?limit=2&cursor={first['next_cursor']}")
        assert ([each["id"] for each in rest["activity"]], rest["next_cursor"]) == ([1], None)
        failed = got(f"{base}/api/activity?status=error&key=ci")["activity"]
        assert [(each["id"], each["model"], each["usd"]) for each in failed] == [(2, "m2", 0.5)]
        assert got(f"{base}/api/activity?since=2999-01-01T00:00:00Z")["activity"] == []
        summary = got(f"{base}/api/activity/summary")
        assert [(each["name"], each["count"]) for each in summary["models"]] == [
            ("openai/m1", 2),
            ("openai/m2", 1),
        ]
        assert (summary["runs"]["errors"], summary["runs"]["usd"]) == (1, 1.5)
        for wrong in ("cursor=zzz", "limit=0", "status=maybe", "since=yesterday", "more=1"):
            assert refused(f"{base}/api/activity?{wrong}")["status"] in (400, 422)


def test_a_lost_stream_goes_on_after_the_last_entry_that_was_seen(log: ActivityLog, tmp_path: Path) -> None:
    log.append([run(1), run(2)])
    with served(tmp_path) as base:
        request = urllib.request.Request(f"{base}/api/activity/events", headers={"Last-Event-ID": "1"})
        with urllib.request.urlopen(request, timeout=BOUND_S) as stream:
            assert next(line for line in stream if line.startswith(b"id:")) == b"id: 2\n"
            log.append([run(3)])
            assert next(line for line in stream if line.startswith(b"id:")) == b"id: 3\n"
