"""The user and the conversation of a call, over each transport."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.asgi import Client
from tests.support.raw_http import RawClient, request
from tests.support.served import INITIALIZE, MODERN_META, call, http_server
from tests.support.workspaces import answers_of
from toolspan_server import Context, load_config, running
from toolspan_server.calls.caller import CONVERSATION_KEY, LOCAL, Caller
from toolspan_server.errors import InvalidParameters
from toolspan_server.http_server.access import AccessOptions
from toolspan_server.protocol.http.app import Application

pytestmark = pytest.mark.requirement("I12.3.8")

ANN, BOB = "ann-0123456789abcdef", "bob-0123456789abcdef"
HANDLER = """
from toolspan_server import handler

@handler("tests_who")
async def who(arguments, context):
    return list(context.caller)
"""
JSON = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
ODD_META = {"progress_token": 1}
"""What sends a request the long way, through the SDK."""


@pytest.fixture(scope="session")
def handlers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the handler, which one process loads once."""
    path = tmp_path_factory.mktemp("handlers") / "who.py"
    path.write_text(HANDLER)
    return path


def write_config(folder: Path, handlers: Path, **more: Any) -> Path:
    who = {"type": "builtin", "handler": "tests_who", "isolation": "thread"}
    registry = [{"name": "who", "description": "Who calls.", "implementation": who}]
    path = folder / "toolspan.json"
    path.write_text(json.dumps({"handlers": [str(handlers)], "tools": {"registry": registry}, **more}))
    return path


@asynccontextmanager
async def served(folder: Path, handlers: Path, *names: str) -> AsyncGenerator[Client]:
    tokens = [{"name": name, "token": {"ann": ANN, "bob": BOB}[name]} for name in names]
    config = load_config(write_config(folder, handlers, **({"auth": {"tokens": tokens}} if tokens else {})))
    async with running(config) as runtime, anyio.create_task_group() as helpers:
        application = Application(runtime, AccessOptions("127.0.0.1"), helpers)
        yield Client(application.app)
        application.close()
        helpers.cancel_scope.cancel()


async def who(client: Client, meta: dict[str, Any] | None = None, **headers: str) -> list[str]:
    """The user and the conversation of a call with ``meta`` and ``headers``."""
    given = {**JSON, **{name.replace("_", "-"): value for name, value in headers.items()}}
    request = call(1, "who", {}, **({} if meta is None else {"_meta": meta}))
    reply = await client.ask("POST", json.dumps(request).encode(), given)
    [answer] = [each for each in reply.messages if each.get("id") == 1]
    text = answer["result"]["content"][0]["text"]
    found: list[str] = json.loads(text)
    return found


async def session_of(client: Client, token: str | None = None) -> str:
    headers = {**JSON, **({} if token is None else {"authorization": f"Bearer {token}"})}
    reply = await client.ask("POST", json.dumps(INITIALIZE).encode(), headers)
    return reply.headers["mcp-session-id"]


def named(conversation: Any) -> Caller:
    return Context(LOCAL, meta={CONVERSATION_KEY: conversation}).caller


def test_a_call_from_nowhere_is_of_the_local_user_in_the_default_conversation() -> None:
    assert Context(LOCAL).caller == Caller("local", "default")


def test_the_request_names_the_conversation() -> None:
    assert named("c-1") == Caller("local", "c-1")


@pytest.mark.parametrize("name", ["", 7, "x" * 201, ["a"], {}])
def test_a_name_that_is_none_is_refused(name: Any) -> None:
    with pytest.raises(InvalidParameters, match="1 to 200 characters"):
        named(name)


def test_stdio_is_one_conversation_unless_a_request_names_another(tmp_path: Path, handlers: Path) -> None:
    write_config(tmp_path, handlers)
    long = {"_meta": {**ODD_META, CONVERSATION_KEY: "c-2"}}
    requests = [call(1, "who"), call(2, "who", _meta={CONVERSATION_KEY: "c-1"}), call(3, "who", **long)]
    answers = answers_of(tmp_path, ["--config", "toolspan.json"], *requests)
    found = [json.loads(answers[each]["result"]["content"][0]["text"]) for each in (1, 2, 3)]
    assert found == [["local", "default"], ["local", "c-1"], ["local", "c-2"]]


@pytest.mark.anyio
@pytest.mark.parametrize("extra", [{}, ODD_META], ids=["short way", "long way"])
async def test_the_principal_of_the_token_is_the_user_on_either_way(
    tmp_path: Path, handlers: Path, extra: dict[str, Any]
) -> None:
    async with served(tmp_path, handlers, "ann", "bob") as client:
        sessions = {token: await session_of(client, token) for token in (ANN, BOB)}
        for token, name in ((ANN, "ann"), (BOB, "bob"), (ANN, "ann")):
            headers = {
                "authorization": f"Bearer {token}",
                "mcp_session_id": sessions[token],
                "mcp_protocol_version": "2025-11-25",
            }
            user, conversation = await who(client, {**extra, CONVERSATION_KEY: "c"}, **headers)
            assert (user, conversation) == (f"token {name}", "c")


@pytest.mark.anyio
@pytest.mark.parametrize("meta", [None, ODD_META], ids=["short way", "long way"])
async def test_each_session_is_a_conversation_whose_name_does_not_give_its_id_away(
    tmp_path: Path, handlers: Path, meta: dict[str, Any] | None
) -> None:
    async with served(tmp_path, handlers) as client:
        found: list[str] = []
        for _ in range(2):
            session = await session_of(client)
            headers = {"mcp_session_id": session, "mcp_protocol_version": "2025-11-25"}
            user, conversation = await who(client, meta, **headers)
            assert (user, await who(client, meta, **headers)) == ("local", [user, conversation])
            assert session not in conversation
            found.append(conversation)
        assert len(set(found)) == 2


@pytest.mark.anyio
async def test_requests_of_the_modern_era_name_their_conversation(tmp_path: Path, handlers: Path) -> None:
    async with served(tmp_path, handlers, "ann") as client:
        headers = {
            "authorization": f"Bearer {ANN}",
            "mcp_protocol_version": "2026-07-28",
            "mcp_method": "tools/call",
            "mcp_name": "who",
        }
        assert await who(client, {**MODERN_META}, **headers) == ["token ann", "default"]
        meta = {**MODERN_META, CONVERSATION_KEY: "c-9"}
        assert await who(client, meta, **headers) == ["token ann", "c-9"]


@pytest.mark.requirement("I12.4.13")
def test_requests_on_one_connection_pass_nothing_on_to_each_other(tmp_path: Path, handlers: Path) -> None:
    """Sent at once, so that the second is begun by the first."""
    with http_server(write_config(tmp_path, handlers)) as server:
        with RawClient(server.address) as opening:
            body = json.dumps(INITIALIZE).encode()
            session = opening.send(post(body)).answer().headers["mcp-session-id"]
        old = (("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25"))
        new = (("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "who"))
        plain, modern = (
            json.dumps(call(1, "who", {}, **more)).encode() for more in ({}, {"_meta": MODERN_META})
        )
        with RawClient(server.address) as connection:
            connection.send(post(plain, *old) + post(modern, *new) + post(plain, *old) + post(modern, *new))
            found = [found_in(answer.message) for answer in connection.answers(4)]
    assert [conversation.partition("-")[0] for _, conversation in found] == ["session", "default"] * 2


def post(body: bytes, *headers: tuple[str, str]) -> bytes:
    return request("POST", "/mcp", *JSON.items(), *headers, body=body)


def found_in(message: Any) -> list[str]:
    found: list[str] = json.loads(message["result"]["content"][0]["text"])
    return found
