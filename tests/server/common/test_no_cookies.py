"""No client of ours keeps cookies: connections serve many principals."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.support.http_api import response, serving
from toolspan_server.common.no_cookies import NoCookies

pytestmark = pytest.mark.requirement("I24.3.3")
ROOT = Path(__file__).parents[3]


def clients() -> Iterator[tuple[str, ast.Call]]:
    """Each call that makes a client, and where it is."""
    for path in sorted(
        [*ROOT.glob("server/toolspan_server/**/*.py"), *ROOT.glob("bridge/toolspan_bridge/**/*.py")]
    ):
        text = path.read_text("utf-8")
        if "AsyncClient" not in text:
            continue
        makers = {"AsyncClient", "made"} if "made = " in text else {"AsyncClient"}
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in makers:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def test_every_client_is_made_without_cookies() -> None:
    found = dict(clients())
    assert len(found) >= 6
    without = [
        place
        for place, call in found.items()
        if not any(
            given.arg == "cookies" and ast.unparse(given.value) == "NoCookies()" for given in call.keywords
        )
    ]
    assert without == []


@pytest.mark.anyio
async def test_a_client_without_cookies_takes_none_and_sends_none() -> None:
    async with serving() as api, httpx2.AsyncClient(cookies=NoCookies(), trust_env=False) as client:
        api.replies(response("x", Set_Cookie="who=ann; Path=/"))
        for _ in range(2):
            await client.get(api.url)
        assert not list(client.cookies.jar)
        assert not any("cookie" in seen.headers for seen in api.seen)
