"""A running server and a running app whose background work fails: both go on, say so and count it."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import urllib.error
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support import upstreams
from tests.support.failing_work import WORDS, failing
from tests.support.served import Lines, write_config
from tests.support.state_marks import share_state_mark
from tests.support.waiting import BOUND_S, eventually
from tests.support.web_app import CONFIG, WebApp

pytestmark = [pytest.mark.long, pytest.mark.requirement("I24.4.1")]

ROOT = Path(__file__).parents[3]
SUPERVISORS = {"kept", "keep_running", "run_contained"}
OF_SERVER = {
    "a connection to an upstream",
    "a document collection",
    "changes of an upstream's definitions",
    "the compilation of a source's tools",
    "the sweep of idle sessions",
    "the watch over resources",
}
OF_APP = {
    "a connection to a server",
    "a conversation's answer",
    "a validation run",
    "news of servers",
    "the activity log",
    "the watch over the config",
}
OF_PRINCIPALS = {"a principal's connection to an upstream", "connections of principals"}
"""In ``tests/server/tools/services/test_principal_connections.py``."""
OF_TOOLBOX = {"news of roots"}
"""In ``tests/bridge/toolbox/test_news_of_roots.py``."""
OF_SDK = {"the SDK's HTTP server"}
SERVICES = {
    "Collections.run",
    "Resources.run",
    "Runtime._settle",
    "SourceRunner.run",
    "Upstream.run",
    "reloading",
}
"""What ``live.services`` starts under the names of its methods."""
NOT_HERE = {
    "an upstream": "of --aggregate, where no source starts its upstream: the work is Upstream.run",
    "an upstream's catalog": "of --aggregate",
    "a sign-in": "needs a server that asks for one",
    "the watch over the parent process": "of a server with --workers, in processes of its own",
}


def supervised() -> Iterator[str]:
    """The name of each work that the sources have supervised."""
    for path in sorted([*(ROOT / "server").rglob("*.py"), *(ROOT / "bridge").rglob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            words = [node.func, *node.args]
            for place, word in enumerate(words[:-1]):
                name = words[place + 1]
                is_supervisor = isinstance(word, ast.Name) and word.id in SUPERVISORS
                if is_supervisor and isinstance(name, ast.Constant):
                    yield str(name.value)


def test_every_supervised_work_is_failed_here_or_has_its_reason() -> None:
    assert {*supervised()} == {
        *OF_SERVER,
        *OF_APP,
        *OF_SDK,
        *OF_TOOLBOX,
        *OF_PRINCIPALS,
        *NOT_HERE,
    }


def environment(folder: Path) -> dict[str, str]:
    state = folder / "state"
    share_state_mark(state)
    return {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(state), "COLUMNS": "200"}


def counted(url: str) -> dict[str, float]:
    with urllib.request.urlopen(f"{url}/metrics", timeout=BOUND_S) as answer:
        text = answer.read().decode()
    found = re.findall(r'toolspan_background_failures_total\{work="([^"]*)"\} (\S+)', text)
    return {name: float(count) for name, count in found}


def asked(url: str, method: str, params: dict[str, Any], **headers: str) -> tuple[int, str, dict[str, str]]:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    sent = {"content-type": "application/json", "accept": "application/json, text/event-stream", **headers}
    request = urllib.request.Request(f"{url}/mcp", json.dumps(body).encode(), sent)
    try:
        with urllib.request.urlopen(request, timeout=BOUND_S) as answer:
            return answer.status, answer.read().decode(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), {}


def test_a_server_whose_background_work_fails_goes_on(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nApples are red.\n")
    document = json.loads(upstreams.config(tmp_path, {"up": upstreams.raw()}).read_text())
    document["resources"] = [{"file": "docs/a.md", "uri": "docs://a"}]
    document["services"]["collections"] = {"docs": {"path": "docs"}}
    config = tmp_path / "toolspan.json"
    config.write_text(json.dumps(document))
    line = failing("toolspan_server", "--transport", "http", "--port", "0", "--config", config)
    process = subprocess.Popen(line, stderr=subprocess.PIPE, cwd=tmp_path, env=environment(tmp_path))
    assert process.stderr is not None
    try:
        errors = Lines(process.stderr)
        url = errors.first(lambda text: "/mcp" in text and " at http" in text)
        url = url.partition(" at ")[2].partition("/mcp")[0]
        initialize = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        asked(url, "initialize", initialize)
        wanted = OF_SERVER | SERVICES
        assert eventually(lambda: counted(url).keys() >= wanted, 20), wanted - counted(url).keys()
        logged = errors.text
        assert [name for name in wanted if f"work {name!r} failed" not in logged] == []
        assert WORDS in errors.text
        status, text, _ = asked(url, "initialize", initialize)
        assert status == 200, text
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@contextmanager
def failing_server(folder: Path, *arguments: str | Path) -> Generator[tuple[str, Lines]]:
    """The address of a server over HTTP whose background work fails once, and what it logs."""
    line = failing("toolspan_server", "--transport", "http", "--port", "0", *arguments)
    process = subprocess.Popen(line, stderr=subprocess.PIPE, cwd=folder, env=environment(folder))
    assert process.stderr is not None
    try:
        errors = Lines(process.stderr)
        url = errors.first(lambda text: "/mcp" in text and " at http" in text)
        yield url.partition(" at ")[2].partition("/mcp")[0], errors
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def is_told(errors: Lines, name: str) -> bool:
    return f"the background work {name!r} failed" in errors.text


def test_a_request_that_finds_the_sdks_server_failing_is_answered_and_the_next_one_starts_another(
    tmp_path: Path,
) -> None:
    with failing_server(tmp_path, "--config", write_config(tmp_path)) as (url, errors):
        sent = {"level": "info"}
        headers = {"mcp-protocol-version": "2025-06-18"}
        first = asked(url, "logging/setLevel", sent, **headers)
        name = "the SDK's HTTP server"
        assert eventually(lambda: is_told(errors, name), 20), (first, errors.text)
        assert counted(url)[name] == 1
        assert first[0] >= 400 and "Traceback" not in first[1]
        again = asked(url, "logging/setLevel", sent, **headers)
        print("AGAIN", first, again)
        assert again[0] != first[0]


def test_an_app_whose_background_work_fails_goes_on(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "talk.yaml").write_text("scenarios: [{query: Thank you!, expect: {no_calls: true}}]")
    line = failing("toolspan_bridge", "gateway", "-c", tmp_path / "toolspan.yaml", "--port", "0")
    errors = tmp_path / "stderr.txt"
    with errors.open("wb") as file:
        process = subprocess.Popen(line, cwd=tmp_path, env=environment(tmp_path), stderr=file)
    app: WebApp | None = None
    try:
        at = r"is at http://127\.0\.0\.1:(\d+)/"
        assert eventually(lambda: bool(re.search(at, errors.read_text())) or process.poll() is not None)
        port = re.search(at, errors.read_text())
        assert port is not None, errors.read_text()
        app = WebApp(process, errors, int(port[1]))
        found = app
        chat = {"model": "offline/keyword", "messages": [{"role": "user", "content": "weather in Rome?"}]}
        for _ in range(2):
            assert found.ask("POST", "/v1/chat/completions", chat).status == 200
            made = found.ask("POST", "/api/conversations", {"model": "offline/keyword"})
            assert made.status == 201, made.body
            said = {"text": "weather in Rome?"}
            found.ask("POST", f"/api/conversations/{made.json['id']}/messages", said)
            run = {"suites": ["talk"], "models": ["offline/keyword"], "trials": 1}
            started = found.ask("POST", "/api/validation/runs", run)
            assert started.status < 300, started.body
        wanted = OF_APP

        def failures() -> dict[str, int]:
            return dict(found.ask("GET", "/api/health").json["background_failures"])

        assert eventually(lambda: failures().keys() >= wanted, 20), wanted - failures().keys()
        assert WORDS in errors.read_text()
        called = found.ask("POST", "/api/tools/call", {"name": "get_weather", "arguments": {"city": "Rome"}})
        assert (called.status, process.poll()) == (200, None), called.body
    finally:
        if app is not None:
            app.close()
        process.kill()
        process.wait()
