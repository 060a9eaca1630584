"""The HTTP server, request by request, in a real process."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.exposition import sample
from tests.support.served import (
    BOUND_S,
    INITIALIZE,
    MODERN_META,
    Served,
    call,
    http_server,
    until,
    write_config,
)

ACCEPT = {"accept": "application/json, text/event-stream"}
EVIL = ("https://evil.example", "null", "file://", "http://localhost:80.evil.example")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    config = write_config(tmp_path_factory.mktemp("http"), "wait", "surrogate", "fault")
    with http_server(config) as served:
        yield served


@pytest.fixture
def client(server: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url, timeout=BOUND_S) as client:
        yield client


def modern(message: dict[str, Any]) -> dict[str, Any]:
    return {**message, "params": {**message.get("params", {}), "_meta": MODERN_META}}


def headers_of(message: dict[str, Any]) -> dict[str, str]:
    name = message.get("params", {}).get("name")
    return {
        **ACCEPT,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": message["method"],
        **({"mcp-name": name} if name else {}),
    }


def ask(client: httpx2.Client, message: dict[str, Any], **headers: str) -> httpx2.Response:
    return client.post("/mcp", json=modern(message), headers={**headers_of(message), **headers})


def session_of(client: httpx2.Client) -> dict[str, str]:
    opened = client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
    assert opened.status_code == 200
    return {
        **ACCEPT,
        "mcp-session-id": opened.headers["mcp-session-id"],
        "mcp-protocol-version": "2025-11-25",
    }


def message_of(response: httpx2.Response) -> dict[str, Any]:
    """The one message of an answer, which is JSON or a stream with one event."""
    if response.headers["content-type"] == "application/json":
        return response.json()  # type: ignore[no-any-return]  # every message is an object
    [data] = [line[5:] for line in response.text.splitlines() if line.startswith("data:")]
    return json.loads(data)  # type: ignore[no-any-return]  # every message is an object


@pytest.mark.requirement("I2.5.1")
def test_the_address_is_told_on_stderr_with_what_is_served_there(server: Served) -> None:
    line = server.errors.first(lambda text: text.startswith("toolspan: "))
    assert line == f"toolspan: serving 6 tools at {server.url}/mcp (Streamable HTTP) and /sse (HTTP+SSE)"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_health_checks_answer(client: httpx2.Client, path: str) -> None:
    assert client.get(path).status_code == 200
    assert client.head(path).status_code == 200
    assert client.delete(path).status_code == 405


@pytest.mark.requirement("I4.3.8")
def test_the_metrics_know_the_connections_and_what_they_were_refused(client: httpx2.Client) -> None:
    assert client.get("/healthz", headers={"x": "a" * 100_000}).status_code == 431
    told = client.get("/metrics").text
    assert sample(told, "toolspan_connections") in (1, 2)
    assert 'toolspan_requests_refused_total{reason="too_large"} ' in told


def test_an_unknown_path_is_told_where_mcp_is(client: httpx2.Client) -> None:
    answer = client.get("/")
    assert answer.status_code == 404
    assert "/mcp" in answer.json()["error"]["message"]


@pytest.mark.requirement("I2.5.1", "I2.8.4")
@pytest.mark.parametrize("origin", EVIL)
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/mcp"), ("GET", "/mcp"), ("GET", "/sse"), ("POST", "/messages/")]
)
def test_a_foreign_page_is_refused_on_every_route(
    client: httpx2.Client, method: str, path: str, origin: str
) -> None:
    assert client.request(method, path, headers={"origin": origin}).status_code == 403


@pytest.mark.requirement("I2.5.1", "I2.8.4")
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/mcp"), ("GET", "/sse"), ("POST", "/messages/"), ("GET", "/healthz")]
)
def test_a_rebound_host_is_refused_on_every_route(client: httpx2.Client, method: str, path: str) -> None:
    assert client.request(method, path, headers={"host": "evil.example"}).status_code == 421


@pytest.mark.requirement("I2.8.4")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"accept": "text/html"}, 406),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/jsonx"}, 415),
    ],
)
def test_wrong_types_are_refused_and_no_tool_runs(
    client: httpx2.Client, server: Served, headers: dict[str, str], status: int
) -> None:
    body = json.dumps(modern(call(1, "fault"))).encode()
    sent = {**headers_of(call(1, "fault")), "content-type": "application/json", **headers}
    assert client.post("/mcp", content=body, headers=sent).status_code == status
    assert "it broke" not in server.errors.text


@pytest.mark.requirement("I2.8.4")
@pytest.mark.parametrize("path", ["/mcp", "/messages/"])
@pytest.mark.parametrize("chunked", [False, True], ids=["declared", "chunked"])
def test_a_body_over_4_mib_is_refused(client: httpx2.Client, path: str, chunked: bool) -> None:
    piece = b" " * 65_536
    body = iter([piece] * 65) if chunked else piece * 65
    sent = {**ACCEPT, "content-type": "application/json"}
    try:
        answer = client.post(path, content=body, headers=sent)
    except httpx2.WriteError:
        return  # the server has answered and closed before the whole body was sent
    assert answer.status_code == 413


@pytest.mark.requirement("I2.5.1")
def test_a_modern_call_is_one_request(client: httpx2.Client) -> None:
    answer = ask(client, call(1, "echo", {"value": {"a": [None, "é"]}}))
    assert answer.headers["content-type"] == "application/json"
    result = answer.json()["result"]
    assert result["structuredContent"] == {"a": [None, "é"]}
    assert result["content"] == [{"type": "text", "text": '{"a":[null,"é"]}'}]
    assert result["_meta"]["execution_time_ms"] > 0


@pytest.mark.requirement("I2.5.1")
def test_a_failed_tool_is_a_result_and_an_unknown_one_a_protocol_error(client: httpx2.Client) -> None:
    failed = ask(client, call(1, "weather", {})).json()["result"]
    assert failed["isError"] is True
    assert failed["structuredContent"]["error"] == "Invalid parameters: missing 'location'"
    unknown = ask(client, call(2, "nope")).json()["error"]
    assert (unknown["code"], unknown["message"]) == (-32602, "Tool 'nope' not found")


def test_a_result_that_is_no_text_is_answered(client: httpx2.Client) -> None:
    assert ask(client, call(1, "surrogate")).json()["result"]["structuredContent"]["name"] == r"\udcff"
    legacy = client.post("/mcp", json=call(2, "surrogate"), headers=session_of(client))
    assert message_of(legacy)["result"]["structuredContent"]["name"] == r"\udcff"


@pytest.mark.requirement("I2.5.1")
def test_a_session_of_the_2025_era_is_kept_and_ended(client: httpx2.Client) -> None:
    session = session_of(client)
    assert message_of(client.post("/mcp", json=call(1, "add"), headers=session))["result"][
        "structuredContent"
    ] == {"result": "4"}
    assert client.delete("/mcp", headers=session).status_code == 200
    assert client.post("/mcp", json=call(2, "add"), headers=session).status_code == 404
    guessed = {**session, "mcp-session-id": "0" * 32}
    assert client.post("/mcp", json=call(3, "add"), headers=guessed).status_code == 404


@pytest.mark.requirement("I2.3.4", "I2.5.1")
def test_a_client_that_leaves_cancels_its_modern_call(tmp_path: Path) -> None:
    with http_server(write_config(tmp_path, "wait")) as server:
        message = modern(call(1, "wait", {"seconds": 60, "note": "left"}))
        body = json.dumps(message).encode()
        head = "".join(
            f"{k}: {v}\r\n" for k, v in {**headers_of(message), "content-type": "application/json"}.items()
        )
        start = f"POST /mcp HTTP/1.1\r\nhost: localhost\r\n{head}content-length: {len(body)}\r\n\r\n"
        with socket.create_connection(server.address, timeout=BOUND_S) as connection:
            connection.sendall(start.encode() + body)
            until((tmp_path / "left.started").exists, "the call to start")
        until((tmp_path / "left").exists, "the handler's cancellation")


@pytest.mark.requirement("I2.3.4", "I2.5.1")
def test_a_session_can_cancel_its_call(client: httpx2.Client, server: Served, tmp_path: Path) -> None:
    with (
        http_server(write_config(tmp_path, "wait")) as served,
        httpx2.Client(base_url=served.url, timeout=BOUND_S) as own,
    ):
        session = session_of(own)
        body = call(1, "wait", {"seconds": 60, "note": "cancelled"})
        with ThreadPoolExecutor(1) as thread:
            asked = thread.submit(own.post, "/mcp", json=body, headers=session)
            until((tmp_path / "cancelled.started").exists, "the call to start")
            cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
            assert own.post("/mcp", json=cancel, headers=session).status_code == 202
            until((tmp_path / "cancelled").exists, "the handler's cancellation")
            assert message_of(asked.result(BOUND_S))["error"]["message"] == "Request cancelled"


@pytest.mark.requirement("I2.8.4")
def test_a_bad_message_over_sse_is_refused_without_a_traceback(client: httpx2.Client, server: Served) -> None:
    with client.stream("GET", "/sse") as stream:
        lines = stream.iter_lines()
        endpoint = next(line[6:] for line in lines if line.startswith("data: "))
        for body in (b"rubbish", b"[]", b'{"jsonrpc":"2.0","id":1,"method":3}'):
            answer = client.post(endpoint, content=body, headers={"content-type": "application/json"})
            assert answer.status_code == 400
        assert client.post(endpoint, json=INITIALIZE).status_code == 202
        assert "protocolVersion" in next(line for line in lines if line.startswith("data: "))
    assert client.post("/messages/?session_id=" + "0" * 32, json=INITIALIZE).status_code == 404
    assert client.post("/sse", json=INITIALIZE).status_code == 405
    assert "Traceback" not in server.errors.text


@pytest.mark.parametrize(
    "request_",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n",
    ],
    ids=["tls", "http2", "two hosts"],
)
def test_what_is_no_proper_request_is_400(server: Served, request_: bytes) -> None:
    assert server.exchange(request_).startswith(b"HTTP/1.1 400")
    assert "Traceback" not in server.errors.text


@pytest.mark.requirement("I2.5.1", "I2.8.4")
def test_a_token_is_needed_on_every_route_but_the_health_check(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    with (
        http_server(
            config, "--token-env", "TESTS_SECRET", "--log-level", "debug", env={"TESTS_SECRET": "t0ken"}
        ) as served,
        httpx2.Client(base_url=served.url, timeout=BOUND_S) as client,
    ):
        for method, path in (
            ("POST", "/mcp"),
            ("GET", "/sse"),
            ("POST", "/messages/"),
            ("GET", "/readyz"),
            ("GET", "/mcp?token=t0ken"),
        ):
            assert client.request(method, path).status_code == 401
            assert client.request(method, path, headers={"authorization": "Bearer other"}).status_code == 401
        assert client.get("/healthz").status_code == 200
        answer = ask(client, call(1, "add"), authorization="Bearer t0ken")
        assert answer.json()["result"]["structuredContent"] == "4"
        assert "t0ken" not in served.errors.text
