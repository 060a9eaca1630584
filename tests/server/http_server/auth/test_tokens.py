"""Static bearer tokens: which are good, for what, and how they are kept."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.support.asgi import Client, Reply
from tests.support.served import BOUND_S, call, run, write_config
from toolspan_server.config import ConfigError, load_config
from toolspan_server.errors import ServeError
from toolspan_server.http_server.access import AccessOptions
from toolspan_server.http_server.auth import PRINCIPAL, auth_of
from toolspan_server.live import reload
from toolspan_server.live.config_files import ConfigFiles
from toolspan_server.live.runtime import running
from toolspan_server.protocol.http.app import Application

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.3.7")]
ANN, BOB, EVE = ("ann-0123456789abcdef", "bob-0123456789abcdef", "eve-0123456789abcdef")
MODERN = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2025-11-25",
}


@asynccontextmanager
async def served(
    folder: Path, access_options: AccessOptions | None = None, **more: Any
) -> AsyncIterator[Application]:
    config = load_config(write_config(folder, **more))
    async with running(config) as runtime, anyio.create_task_group() as helpers:
        application = Application(runtime, access_options or AccessOptions("127.0.0.1"), helpers)
        yield application
        application.close()
        helpers.cancel_scope.cancel()


async def ask(application: Application, token: str | None, path: str = "/mcp") -> Reply:
    authorization = {} if token is None else {"authorization": f"Bearer {token}"}
    body = json.dumps(call(1, "add")).encode()
    return await Client(application.app).ask("POST", body, {**MODERN, **authorization}, path=path)


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(BOUND_S):
        while not condition():  # noqa: ASYNC110  # a file that another thread reads tells
            await anyio.sleep(0.002)


def digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


async def test_a_token_may_stand_in_the_config_or_its_hash_there_or_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(f"# who\n\neve:{digest(EVE)}\r\n")
    tokens = [{"name": "ann", "token": ANN}, {"name": "bob", "sha256": digest(BOB)}, {"file": "tokens"}]
    async with served(tmp_path, auth={"tokens": tokens}) as application:
        for good in (ANN, BOB, EVE):
            assert (await ask(application, good)).status == 200
        for bad in (None, "", ANN[:-1], ANN + "x", digest(BOB), "eve"):
            refused = await ask(application, bad)
            assert refused.status == 401
            assert refused.headers["www-authenticate"].startswith("Bearer")
        assert (await ask(application, None, f"/mcp?access_token={ANN}")).status == 401


async def test_each_scope_opens_its_toolset_and_only_all_of_them_open_everything(tmp_path: Path) -> None:
    tokens = [
        {"name": "ann", "token": ANN, "scopes": ["read"]},
        {"name": "bob", "token": BOB, "scopes": ["admin"]},
    ]
    toolsets = {
        "safe": {"tools": ["add"], "auth": {"scopes": ["read"]}},
        "risky": {"tools": ["echo"], "auth": {"scopes": ["write"]}},
        "open": {"tools": ["weather"]},
    }
    auth = {"tokens": tokens, "implies": {"admin": ["write"], "write": ["read"]}}
    async with served(tmp_path, auth=auth, toolsets=toolsets) as application:

        def verdict(path: str, token: str) -> int | None:
            headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {token}".encode())]
            scope = {"type": "http", "method": "GET", "path": path, "headers": headers}
            refused = application.guard.refusal(scope)
            return None if refused is None else refused.status

        assert verdict("/mcp/safe", ANN) is None
        assert [verdict(path, ANN) for path in ("/mcp/risky", "/mcp", "/sse", "/messages/")] == [403] * 4
        assert verdict("/mcp/open", ANN) is None
        assert [verdict(path, ANN) for path in ("/readyz", "/metrics")] == [None] * 2
        assert [verdict(path, BOB) for path in ("/mcp/safe", "/mcp/risky", "/mcp", "/sse")] == [None] * 4
        assert [verdict(path, ANN) for path in ("/mcp/", "/mcp/risky/", "/mcp/nothing")] == [403] * 3
        refused = await ask(application, ANN)
        assert 'error="insufficient_scope"' in refused.headers["www-authenticate"]
        assert 'scope="read write"' in refused.headers["www-authenticate"]
        assert "read write" in refused.message["error"]["message"]


async def test_a_toolsets_own_token_is_good_there_and_nowhere_else(tmp_path: Path) -> None:
    own = {"scopes": ["read"], "tokens": [{"name": "ann", "token": ANN}]}
    toolsets = {"safe": {"tools": ["add"], "auth": own}}
    config = load_config(write_config(tmp_path, toolsets=toolsets))
    auth = auth_of(config, None)
    assert auth is not None
    for path, status in (("/mcp/safe", None), ("/mcp", 403), ("/metrics", 403), ("/healthz", None)):
        refused = auth.refusal({"path": path, "headers": []}, b"Bearer " + ANN.encode())
        assert (None if refused is None else refused.status) == status


async def test_scopes_without_any_token_let_nobody_in(tmp_path: Path) -> None:
    config = load_config(write_config(tmp_path, toolsets={"safe": {"auth": {"scopes": ["read"]}}}))
    auth = auth_of(config, None)
    assert auth is not None
    assert auth.refusal({"path": "/mcp", "headers": []}, b"") is not None


async def test_whose_token_it_is_stands_in_the_requests_scope(tmp_path: Path) -> None:
    config = load_config(write_config(tmp_path, auth={"tokens": [{"name": "ann", "token": ANN}]}))
    auth = auth_of(config, BOB)
    assert auth is not None
    for token, principal in ((ANN, b"token ann"), (BOB, b"token")):
        scope: dict[str, Any] = {"path": "/mcp", "headers": []}
        assert auth.refusal(scope, f"bearer  {token}".encode()) is None
        assert scope[PRINCIPAL] == principal


async def test_a_reloaded_config_changes_who_gets_in(tmp_path: Path) -> None:
    async with served(tmp_path, auth={"tokens": [{"name": "ann", "token": ANN}]}) as application:
        changed = load_config(write_config(tmp_path, auth={"tokens": [{"name": "bob", "token": BOB}]}))
        await application.runtime.replace(changed)
        assert [(await ask(application, token)).status for token in (ANN, BOB)] == [401, 200]


async def test_a_token_that_is_taken_out_of_its_file_is_good_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reload, "LOOK_EVERY_S", 0.005)
    monkeypatch.setattr(reload, "SETTLE_S", 0.001)
    tokens, auth = tmp_path / "tokens", {"tokens": [{"file": "tokens"}]}
    tokens.write_text(f"ann:{digest(ANN)}\neve:{digest(EVE)}\n")
    files = ConfigFiles([write_config(tmp_path, auth=auth)])
    files.load()
    async with served(tmp_path, auth=auth) as application, anyio.create_task_group() as group:
        assert (await ask(application, EVE)).status == 200
        group.start_soon(reload.reloading, application.runtime, files)
        tokens.write_text(f"ann:{digest(ANN)}\n")
        await until(lambda: application.runtime.snapshot.number == 2)
        tokens.write_text("nonsense\n")
        await until(lambda: application.runtime.problems)
        assert [(await ask(application, token)).status for token in (ANN, EVE)] == [200, 401]
        assert application.runtime.snapshot.number == 2
        group.cancel_scope.cancel()


async def test_a_reload_that_would_open_the_server_to_others_is_refused(tmp_path: Path) -> None:
    auth = {"tokens": [{"name": "ann", "token": ANN}]}
    async with served(tmp_path, AccessOptions("0.0.0.0"), auth=auth) as application:
        with pytest.raises(ServeError):
            await application.runtime.replace(load_config(write_config(tmp_path)))
        assert [(await ask(application, token)).status for token in (ANN, None)] == [200, 401]


async def test_one_toolset_served_as_everything_needs_what_it_needs(tmp_path: Path) -> None:
    toolsets = {
        "safe": {"tools": ["add"], "auth": {"scopes": ["read"], "tokens": [{"name": "bob", "token": BOB}]}},
        "risky": {"tools": ["echo"], "auth": {"scopes": ["write"]}},
    }
    tokens = [{"name": "ann", "token": ANN, "scopes": ["read"]}]
    config = load_config(write_config(tmp_path, auth={"tokens": tokens}, toolsets=toolsets))
    auth = auth_of(config, None, "safe")
    assert auth is not None
    for path in ("/mcp", "/sse", "/mcp/safe"):
        assert auth.refusal({"path": path, "headers": []}, b"Bearer " + ANN.encode()) is None
        assert auth.refusal({"path": path, "headers": []}, b"Bearer " + BOB.encode()) is None


async def test_a_session_of_http_with_sse_is_not_found_by_another_principal(tmp_path: Path) -> None:
    tokens = [{"name": "ann", "token": ANN}, {"name": "bob", "token": BOB}]
    async with served(tmp_path, auth={"tokens": tokens}) as application, anyio.create_task_group() as group:
        client, stream, gone = Client(application.app), Reply(), anyio.Event()

        async def listen() -> None:
            headers = {"authorization": f"Bearer {ANN}", "accept": "text/event-stream"}
            await client.ask("GET", headers=headers, path="/sse", reply=stream, gone=gone)

        group.start_soon(listen)
        with anyio.fail_after(BOUND_S):
            while b"data:" not in stream.body:
                await anyio.lowlevel.checkpoint()
        path = stream.body.split(b"data:")[1].split()[0].decode()
        statuses = []
        for token in (BOB, ANN):
            headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
            reply = await client.ask("POST", json.dumps(call(1, "add")).encode(), headers, path=path)
            statuses.append(reply.status)
        gone.set()
        assert statuses == [404, 202]


def test_beyond_loopback_a_config_needs_auth_or_insecure(tmp_path: Path) -> None:
    config = load_config(write_config(tmp_path))
    with pytest.raises(ServeError, match="put auth into the config"):
        AccessOptions("0.0.0.0").access(config)
    assert AccessOptions("0.0.0.0", insecure=True).access(config).auth is None
    assert AccessOptions("0.0.0.0", token=ANN).access(config).any_name
    guarded = load_config(write_config(tmp_path, auth={"tokens": [{"name": "ann", "token": ANN}]}))
    assert AccessOptions("0.0.0.0").access(guarded).any_name


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"ann:{'0' * 63}\n", 1, "no name and SHA-256"),
        (f"ann:{'0' * 64}\nann:{'1' * 64}\n", 2, "twice"),
        ("\n\nsecret-in-the-clear\n", 3, "no name and SHA-256"),
        (b"\xff\xfe", 0, "no UTF-8"),
        (None, 0, "cannot be read"),
    ],
)
def test_a_wrong_file_of_tokens_is_refused_with_its_line(
    tmp_path: Path, text: str | bytes | None, line: int, message: str
) -> None:
    if text is not None:
        (tmp_path / "tokens").write_bytes(text if isinstance(text, bytes) else text.encode())
    config = load_config(write_config(tmp_path, auth={"tokens": [{"file": "tokens"}]}))
    with pytest.raises(ConfigError) as caught:
        auth_of(config, None)
    [problem] = caught.value.problems
    assert (problem.line, message in problem.message) == (line, True)
    assert "secret-in-the-clear" not in str(problem)


@pytest.mark.parametrize(
    ("auth", "message"),
    [
        ({}, "allows no client"),
        ({"tokens": [{"name": "a", "token": "short"}]}, "no bearer token of at least 16"),
        ({"tokens": [{"name": "a", "token": "with space in the middle"}]}, "no bearer token"),
        ({"tokens": [{"name": "a"}]}, "exactly one of them"),
        ({"tokens": [{"name": "a", "token": ANN, "sha256": "0" * 64}]}, "token and sha256 together"),
        ({"tokens": [{"token": ANN}]}, "'name' is missing"),
        ({"tokens": [{"name": "a", "sha256": "zz"}]}, "no SHA-256"),
        ({"tokens": [{"name": "a", "token": ANN}, {"name": "a", "token": BOB}]}, "is taken by"),
        ({"oauth": {"issuer": "http://login.example.com", "audience": ["x"]}}, "is not an https URL"),
        ({"oauth": {"issuer": "https://me:pw@login.example.com", "audience": ["x"]}}, "is not an https URL"),
        ({"oauth": {"issuer": "https://login.example.com"}}, "audience"),
        (
            {"oauth": {"issuer": "https://a.example", "audience": ["x"], "algorithms": ["HS256"]}},
            "algorithms[0]",
        ),
        ({"oauth": {"issuer": "https://a.example", "audience": ["x"], "algorithms": ["none"]}}, "RS256"),
    ],
)
def test_a_wrong_auth_is_refused_by_name(tmp_path: Path, auth: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(write_config(tmp_path, auth=auth))
    assert message in str(caught.value)
    assert not any(secret in str(caught.value) for secret in (ANN, BOB, "me:pw", "with space"))


def test_the_server_hashes_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = run(["--hash-token"], tmp_path)
    assert (empty.returncode, "no token came" in empty.stderr) == (2, True)
