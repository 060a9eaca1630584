"""The app as a process: its config, tokens, limits, streams and end."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.support.cli import toolspan_process
from tests.support.waiting import eventually
from tests.support.web_app import CONFIG, web_app

pytestmark = pytest.mark.long


@pytest.mark.requirement("I15.1.17")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_with_streams_open(tmp_path: Path, number: int, code: int) -> None:
    with web_app(tmp_path) as app:
        streams = [app.opened("GET", "/api/events") for _ in range(3)]
        assert [stream.status for stream in streams] == [200, 200, 200]
        assert app.end(number) == code
        assert all(stream.read() == b"" for stream in streams)
        assert "Traceback" not in app.errors.read_text()


@pytest.mark.requirement("I15.1.18")
def test_a_changed_config_is_used_at_once_and_a_bad_one_leaves_the_old(tmp_path: Path) -> None:
    with web_app(tmp_path) as app:
        stream = app.opened("GET", "/api/events")
        config = tmp_path / "toolspan.yaml"
        config.write_text(CONFIG.replace("get_weather", "get_forecast"))
        first = int(stream.readline().removeprefix(b"id: "))
        assert stream.readline() == b"event: config_reloaded\n"
        names = [tool["name"] for tool in app.ask("GET", "/api/tools/list").json["tools"]]
        assert names == ["get_forecast", "remove_all"]
        config.write_text("tools: {registry: 3}\n")
        assert eventually(lambda: bool(app.ask("GET", "/api/health").json["config"]["problems"]))
        assert app.ask("GET", "/api/health").json["tools"] == 2
        again = app.opened("GET", "/api/events", Last_Event_ID=str(first))
        assert again.readline() == b"id: %d\n" % (first + 1)
        assert again.readline() == b"event: config_failed\n"
        assert json.loads(again.readline().removeprefix(b"data: "))["problems"]


@pytest.mark.requirement("I15.1.19")
def test_with_a_token_every_route_needs_it_but_what_a_browser_loads_first(tmp_path: Path) -> None:
    token = "a-token-of-the-tests-0123456789"
    with web_app(tmp_path, token=token) as app:
        assert app.ask("GET", "/api/health").status == 200
        assert app.ask("GET", "/api/health", Authorization="Bearer wrong").status == 401
        app.token = ""
        for path in (
            "/api/health",
            "/api/tools/list",
            "/api/nothing",
            f"/api/health?token={token}",
            "/v1/models",
        ):
            refused = app.ask("GET", path)
            assert refused.status == 401
            assert refused.headers["www-authenticate"].startswith("Bearer")
        assert app.ask("GET", "/v1/models", x_api_key=token).status == 200
        assert app.ask("GET", "/api/health", x_api_key=token).status == 401
        assert app.ask("GET", "/api/docs").status == app.ask("GET", "/healthz").status == 200
        assert token not in app.errors.read_text()


@pytest.mark.requirement("I15.1.19")
def test_beyond_this_machine_it_needs_a_token(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    ran = toolspan_process("gateway", "--host", "0.0.0.0", "--port", "0", cwd=tmp_path)
    assert ran.code == 2
    assert "--insecure" in ran.err


@pytest.mark.requirement("I15.1.12")
def test_a_principal_may_make_so_many_requests_a_minute(tmp_path: Path) -> None:
    with web_app(tmp_path, config=CONFIG + "web: {requests_per_minute: 12}\n") as app:
        replies = [app.ask("GET", "/api/examples") for _ in range(4)]
        assert replies[0].status == 200
        limited = replies[-1]
        assert (limited.status, limited.json["code"]) == (429, "too_many_requests")
        assert int(limited.headers["retry-after"]) >= 1
