"""Callers of an aggregate have tokens of their own at a server behind it, and it never sees theirs."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx2
import jwt
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support.aggregates import aggregate, connected, failure, mock, names, text
from tests.support.answering import answering
from tests.support.issuer import AUDIENCE, Issuer, issuer
from tests.support.served import Served, http_server

pytestmark = [pytest.mark.long, pytest.mark.anyio]

SERVICE = "service-token-0123456789abcdef"
THEIRS = {"ann": "bank-token-of-ann-0123456789", "bob": "bank-token-of-bob-0123456789"}


class Bank:
    """A server behind the aggregate, with what it saw, and the token endpoint in front of it."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.exchanged: list[dict[str, str]] = []
        self.behind = ""

    def token(self, _request: BaseHTTPRequestHandler, body: bytes) -> tuple[int, dict[str, str], bytes]:
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        self.exchanged.append(form)
        who = jwt.decode(form["subject_token"], options={"verify_signature": False})["sub"]
        if who not in THEIRS:
            return 400, {}, b'{"error": "invalid_target"}'
        given = {"access_token": THEIRS[who], "token_type": "Bearer", "expires_in": 600}
        return 200, {"content-type": "application/json"}, json.dumps(given).encode()

    def mcp(self, request: BaseHTTPRequestHandler, body: bytes) -> tuple[int, dict[str, str], bytes]:
        self.seen.append(json.dumps(dict(request.headers.items())) + body.decode())
        message = json.loads(body)
        if (
            message["method"] == "subscriptions/listen"
        ):  # a stream without an end, which is not passed on here
            error = {"code": -32601, "message": "Method not found"}
            told = {"jsonrpc": "2.0", "id": message["id"], "error": error}
            return 200, {"content-type": "application/json"}, json.dumps(told).encode()
        kept = {name: value for name, value in request.headers.items() if name.lower() != "host"}
        answer = httpx2.post(f"{self.behind}/mcp", headers=kept, content=body, trust_env=False)
        passed = ("content-type", "mcp-session-id", "www-authenticate")
        headers = {name: value for name, value in answer.headers.items() if name in passed}
        return answer.status_code, headers, answer.content


@pytest.fixture
def bank() -> Bank:
    return Bank()


@contextmanager
def hub(folder: Path, bank: Bank) -> Iterator[tuple[Served, Issuer, Served]]:
    """An aggregate with the bank behind it, the issuer of its callers' tokens, and the bank's server."""
    tokens = [{"name": name, "token": f"${{{name.upper()}}}"} for name in ("service", *THEIRS)]
    document = {"name": "bank", "tools": {"registry": [mock("pay", "paid")]}, "auth": {"tokens": tokens}}
    behind = folder / "bank.json"
    behind.write_text(json.dumps(document))
    env = {"SERVICE": SERVICE, **{name.upper(): token for name, token in THEIRS.items()}, "SECRET": "s" * 20}
    log = ("--log-level", "info", "--log-format", "json")
    with (
        issuer() as made,
        http_server(behind, *log, env=env) as served_bank,
        answering(bank.token) as endpoint,
        answering(bank.mcp) as front,
    ):
        bank.behind = served_bank.url
        exchange = {
            "token_url": endpoint,
            "client_id": "hub",
            "client_secret": "${SECRET}",
            "audience": "bank",
        }
        entry = {"url": f"{front}/mcp", "headers": {"Authorization": "Bearer ${SERVICE}"}}
        auth = {
            "oauth": {"issuer": made.url, "audience": [AUDIENCE]},
            "tokens": [{"name": "static", "token": "a-static-token-0123456789"}],
        }
        settings = {"servers": {"bank": {"token_exchange": exchange}}}
        config = aggregate(folder, {"bank": entry}, settings, mock("own", "ours"), auth=auth)
        with http_server(config, env=env) as served:
            yield served, made, served_bank


@asynccontextmanager
async def calling(served: Served, token: str) -> AsyncGenerator[Client]:
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, trust_env=False) as http:
        where: Any = streamable_http_client(f"{served.url}/mcp", http_client=http)
        async with connected(where) as client:
            yield client


@pytest.mark.requirement("I15.4.27")
async def test_each_caller_is_called_for_with_a_token_of_its_own_and_theirs_never_goes_there(
    tmp_path: Path, bank: Bank
) -> None:
    with hub(tmp_path, bank) as (served, made, behind):
        callers = {name: made.token(sub=name) for name in THEIRS}
        for name, token in callers.items():
            async with calling(served, token) as client:
                assert await names(client) == ["own", "bank_pay"]
                first = await client.call_tool("bank_pay")
                assert text(first) == "paid", text(first)
                behind.errors.first(lambda line, name=name: f'"principal": "token {name}"' in line)
                first = await client.call_tool("bank_pay")
                assert text(first) == "paid", text(first)
    for token in callers.values():
        assert not any(token in each for each in bank.seen)
    assert [form["subject_token"] for form in bank.exchanged] == list(callers.values())
    assert {form["audience"] for form in bank.exchanged} == {"bank"}
    calls = [each for each in bank.seen if '"tools/call"' in each]
    used = [next(name for name, token in THEIRS.items() if token in each) for each in calls]
    assert used == ["ann", "ann", "bob", "bob"]
    assert not any(SERVICE in each for each in calls)


@pytest.mark.requirement("I15.4.28")
async def test_a_caller_without_a_token_there_is_told_so_and_others_are_not_affected(
    tmp_path: Path, bank: Bank
) -> None:
    with hub(tmp_path, bank) as (served, made, _):
        async with calling(served, made.token(sub="eve")) as client:
            refused = failure(await client.call_tool("bank_pay"))
            assert refused["error_code"] == "not_authorized" and "invalid_target" in refused["error"], refused
            assert text(await client.call_tool("own")) == "ours"
        async with calling(served, "a-static-token-0123456789") as client:
            refused = failure(await client.call_tool("bank_pay"))
            assert refused["error_code"] == "not_authorized" and "auth.oauth" in refused["error"]
        async with calling(served, made.token(sub="ann")) as client:
            assert text(await client.call_tool("bank_pay")) == "paid"
    assert not any("a-static-token" in str(form) for form in (*bank.exchanged, *bank.seen))
