"""``/api/servers`` of a running app: what servers have, connecting, leaving, signing in."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from tests.support.authority import Authority, Guarded
from tests.support.cli import toolspan
from tests.support.waiting import BOUND_S, eventually
from toolspan_bridge.web.app.found import endpoints

pytestmark = pytest.mark.long

CONFIG: Mapping[str, Any] = {
    "tools": {
        "registry": [
            {
                "name": "greet",
                "description": "Greets someone.",
                "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
                "implementation": {"type": "mock", "response": {"text": "hello"}},
            }
        ]
    },
    "prompts": [
        {
            "name": "welcome",
            "arguments": [{"name": "who", "required": True}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Welcome {{ who }}"}]}],
        }
    ],
    "resources": [{"uri": "memo://one", "name": "one", "text": "The first memo."}],
}


@contextmanager
def app(folder: Path, **more: Any) -> Generator[httpx2.Client]:
    """A client of the app of ``CONFIG`` with ``more``."""
    config = folder / "toolspan.yaml"
    config.write_text(yaml.safe_dump({**CONFIG, **more}))
    command = [sys.executable, "-m", "toolspan_bridge", "gateway", "--port", "0", "--config", str(config)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = ""
            while (at := re.search(r"gateway is at (http://127\.0\.0\.1:\d+)", said)) is None:
                line = process.stderr.readline()
                assert line, said
                said += line
            threading.Thread(target=process.stderr.read, daemon=True).start()
            with httpx2.Client(base_url=f"{at[1]}/api", timeout=BOUND_S) as client:
                yield client
        finally:
            process.terminate()


def told(client: httpx2.Client, way: str) -> Any:
    return client.post(way, json={}).json()


def states(client: httpx2.Client) -> dict[str, str]:
    return {each["name"]: each["state"] for each in client.get("/servers").json()["servers"]}


@pytest.mark.requirement("I15.1.60")
def test_servers_are_listed_with_their_state_and_one_with_all_that_it_has(
    tmp_path: Path, state: Path
) -> None:
    gone = {"command": sys.executable, "args": ["-c", "import sys; sys.exit('no licence')"]}
    with app(tmp_path, mcpServers={"gone": gone}) as client:
        first, second = client.get("/servers").json()["servers"]
        assert (first["name"], first["state"], first["tools"]) == ("gone", "failed", 0)
        assert (second["state"], second["error"], second["transport"]) == ("connected", None, "stdio")
        assert (second["tools"], second["resources"], second["prompts"]) == (1, 1, 1)
        shown = client.get(f"/servers/{second['name']}").json()
        assert [tool["name"] for tool in shown["tools"]] == ["greet"]
        assert shown["resources"] == ["memo://one"]
        assert shown["prompts"] == [{"name": "welcome", "description": "", "arguments": {"who": True}}]
        assert client.get("/servers/gone").json()["logs"] == ["no licence"]
        missing = client.get("/servers/nobody")
        assert missing.status_code == 404 and "gone" in missing.json()["detail"]


@pytest.mark.requirement("I15.1.60")
def test_what_a_server_that_runs_writes_to_stderr_is_shown_without_secrets(
    tmp_path: Path, state: Path
) -> None:
    (tmp_path / "behind.yaml").write_text(yaml.safe_dump(CONFIG))
    own = [sys.executable, "-m", "toolspan_server", "--config", "behind.yaml"]
    say = "print('warm, key', os.environ['KEY'], file=sys.stderr, flush=True)"
    code = f"import os, sys; {say}; os.execv({own[0]!r}, {own!r})"
    behind = {
        "command": sys.executable,
        "args": ["-c", code],
        "env": {"KEY": "${SERVERS_KEY:-k3y-of-the-tests}"},
    }
    with app(tmp_path, mcpServers={"behind": behind}) as client:
        assert states(client)["behind"] == "connected"
        (line,) = client.get("/servers/behind").json()["logs"]
        assert line.startswith("warm, key ") and "k3y-of-the-tests" not in line


@pytest.mark.requirement("I15.1.61")
def test_resources_are_read_and_prompts_are_filled(tmp_path: Path, state: Path) -> None:
    with app(tmp_path) as client:
        read = client.get("/servers/toolspan/resources/read", params={"uri": "memo://one"}).json()
        assert [each["text"] for each in read["contents"]] == ["The first memo."]
        filled = client.post(
            "/servers/toolspan/prompts/get", json={"name": "welcome", "arguments": {"who": "Ada"}}
        )
        assert filled.json()["messages"][0]["content"]["text"] == "Welcome Ada"
        refused = client.post("/servers/toolspan/prompts/get", json={"name": "welcome"})
        assert refused.status_code == 422 and "who" in refused.json()["detail"]
        unknown = client.get("/servers/toolspan/resources/read", params={"uri": "memo://two"})
        assert unknown.status_code == 422 and "memo://one" in unknown.json()["detail"]


@pytest.mark.requirement("I15.1.62")
def test_a_server_that_was_disconnected_stays_away_until_it_is_connected_again(
    tmp_path: Path, state: Path
) -> None:
    with app(tmp_path) as client:
        for _ in range(2):
            for _ in range(2):
                assert told(client, "/servers/toolspan/disconnect")["state"] == "disconnected"
            assert states(client) == {"toolspan": "disconnected"}
            gone = client.get("/servers/toolspan/resources/read", params={"uri": "memo://one"})
            assert (gone.status_code, gone.json()["code"]) == (409, "disconnected")
            assert "connect it again" in gone.json()["detail"]
            assert told(client, "/servers/toolspan/connect")["state"] == "connected"
        read = client.get("/servers/toolspan/resources/read", params={"uri": "memo://one"})
        assert read.status_code == 200


@pytest.mark.requirement("I15.1.62")
def test_a_server_that_fails_is_tried_again_and_may_be_left_alone(tmp_path: Path, state: Path) -> None:
    gone = {"command": sys.executable, "args": ["-c", "pass"]}
    with app(tmp_path, mcpServers={"gone": gone}) as client:
        assert told(client, "/servers/gone/connect")["state"] == "failed"
        assert told(client, "/servers/gone/disconnect")["state"] == "disconnected"
        assert told(client, "/servers/gone/connect")["state"] == "failed"


@pytest.mark.requirement("I15.1.63")
def test_a_sign_in_gives_an_address_and_is_completed_by_the_browser_that_comes_back(
    tmp_path: Path, state: Path, sites: tuple[Authority, Guarded]
) -> None:
    authority, guarded = sites
    with app(tmp_path, mcpServers={"notes": {"url": f"{guarded.url}/mcp"}}) as client:
        assert states(client)["notes"] == "needs_sign_in"
        address = told(client, "/servers/notes/sign-in")["authorization_url"]
        assert address.startswith(f"{authority.url}/authorize?")
        assert told(client, "/servers/notes/sign-in")["authorization_url"] == address
        httpx2.get(address, follow_redirects=True, timeout=BOUND_S)
        assert eventually(lambda: states(client)["notes"] == "connected")
        assert [tool["name"] for tool in client.get("/servers/notes").json()["tools"]]
        assert told(client, "/servers/notes/disconnect")["state"] == "disconnected"
        assert told(client, "/servers/notes/connect")["state"] == "connected"


@pytest.mark.requirement("I15.1.63")
def test_a_server_that_is_a_process_is_not_signed_in_to(tmp_path: Path, state: Path) -> None:
    with app(tmp_path) as client:
        refused = client.post("/servers/toolspan/sign-in", json={})
        assert refused.status_code == 422 and "OAuth" in refused.json()["detail"]


@pytest.mark.requirement("I15.1.64")
def test_definitions_that_changed_since_the_lock_are_told_with_their_difference(
    tmp_path: Path, state: Path
) -> None:
    config = tmp_path / "toolspan.yaml"
    config.write_text(yaml.safe_dump(dict(CONFIG)).replace("Greets someone.", "Greets."))
    assert toolspan("lock", "--config", str(config), cwd=tmp_path).code == 0
    with app(tmp_path) as client:
        [changed] = client.get("/servers/toolspan").json()["changed"]
        assert (changed["tool"], changed["kind"]) == ("greet", "changed")
        assert "Greets someone." in json.dumps(changed["diff"])


@pytest.mark.requirement("I15.1.65")
def test_no_endpoint_takes_a_command_or_an_address_of_a_server(tmp_path: Path, state: Path) -> None:
    refused = {"command", "args", "env", "cwd", "url", "base_url", "headers", "servers", "config"}
    for endpoint in endpoints():
        for model in (endpoint.body, endpoint.query):
            assert model is None or not refused & set(model.model_fields), endpoint.path
    with app(tmp_path) as client:
        sent = client.post(
            "/servers/toolspan/connect", json={"command": "touch", "args": [str(tmp_path / "made")]}
        )
        assert sent.status_code in (400, 422) and not (tmp_path / "made").exists()
