"""A request goes to no address that was not checked, however its name is written or changes."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from tests.support.http_api import Api, data, http_tool, response, serving
from toolspan_server.calls.caller import LOCAL

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.3", "I4.4.1")]


@pytest.fixture
async def api() -> AsyncGenerator[Api]:
    async with serving() as api:
        yield api


SPELLINGS = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "0",
    "0.0.0.0",
    "0x7f.1",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "017700000001",
    "2130706433",
    "127.0.0.2",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::1]",
    "169.254.169.254",
    "[fd00:ec2::254]",
]


@pytest.mark.parametrize("host", SPELLINGS)
async def test_no_spelling_reaches_loopback_or_metadata(api: Api, host: str) -> None:
    url = f"http://{host}:{api.port}/"
    try:
        async with http_tool(url, allow_private=[], retry={"max_attempts": 1}) as call:
            result = await call()
    except ValueError as refused:
        assert "allow_private" in str(refused)
    else:
        assert not result.success
        assert result.error_code in ("blocked_address", "connection_failed")
    assert api.connections == 0


async def test_every_address_of_a_name_is_checked(api: Api) -> None:
    async def resolver(host: str, port: int) -> list[str]:
        return ["8.8.8.8", "127.0.0.1"]

    url = f"http://api.test:{api.port}/"
    async with http_tool(url, resolver=resolver, allow_private=[]) as call:
        result = await call()
    assert result.error_code == "blocked_address" and "loopback" in result.error
    assert api.connections == 0


async def test_the_address_that_was_checked_is_the_one_connected_to(api: Api) -> None:
    asked: list[str] = []

    async def resolver(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

    url = f"http://api.test:{api.port}/x"
    api.reply = lambda _: response("ok", Connection="close")
    async with http_tool(url, resolver=resolver, retry={"max_attempts": 1}) as call:
        first, second = await call(), await call()
    assert first.result == "ok" and asked == ["api.test", "api.test"]
    assert api.seen[0].headers["host"] == f"api.test:{api.port}"
    assert second.error_code == "blocked_address" and "link-local" in second.error
    assert api.connections == 1


async def test_a_connection_of_a_tool_that_may_is_not_lent_to_one_that_may_not(api: Api) -> None:
    async def resolver(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    from tests.support.executors import tool
    from toolspan_server import Config, running
    from toolspan_server.engines.http_client import HttpClient

    described = {"type": "http", "url": f"http://api.test:{api.port}/"}
    tools = [tool("may", {**described, "allow_private": ["api.test"]}), tool("may_not", described)]
    async with running(Config.model_validate({"tools": {"registry": tools}})) as runtime:
        runtime.snapshot.environment.shared.get(HttpClient, lambda: HttpClient(resolver))
        assert (await runtime.execute("may", None, LOCAL)).success
        assert (await runtime.execute("may_not", None, LOCAL)).error_code == "blocked_address"


async def test_a_redirect_is_checked_again(api: Api) -> None:
    async def resolver(host: str, port: int) -> list[str]:
        return ["127.0.0.1"] if host == "api.test" else ["169.254.169.254"]

    api.reply = lambda _: response(status=302, Location="http://other.test/latest/meta-data")
    async with http_tool(f"http://api.test:{api.port}/", resolver=resolver) as call:
        result = await call()
    assert result.error_code == "blocked_address" and "other.test" in result.error


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("file:///etc/passwd", "only http and https"),
        ("http://user:pw@127.0.0.1/", "user name"),
        ("http://evil.test/", "not in allowed_domains"),
        ("//evil.test/", "not in allowed_domains"),
        ("http://[", "leads nowhere"),
        ("/again", "max_redirects is 2"),
    ],
)
async def test_a_redirect_that_leads_elsewhere_is_not_followed(api: Api, location: str, reason: str) -> None:
    api.reply = lambda _: response(status=302, Location=location)
    limits = {"allowed_domains": ["127.0.0.1"], "max_redirects": 2}
    async with http_tool(api.url, **limits) as call:
        result = await call()
    assert result.error_code == "redirected" and reason in result.error


@pytest.mark.parametrize("address", ["100.100.100.200", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254"])
async def test_no_name_that_may_be_private_may_be_a_clouds_metadata(address: str) -> None:
    async def resolver(host: str, port: int) -> list[str]:
        return [address]

    async with http_tool("http://api.test/", resolver=resolver, allow_private=["api.test"]) as call:
        result = await call()
    assert result.error_code == "blocked_address" and "cloud metadata" in result.error


async def test_a_redirect_in_plain_unicode_is_followed(api: Api) -> None:
    head = "HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: /caf\u00e9/%20?q=\u2603\r\n\r\n"
    api.replies(head.encode(), data({"ok": 1}))
    async with http_tool(api.url) as call:
        assert (await call()).result == {"ok": 1}
    assert api.seen[-1].target == "/caf%C3%A9/%20?q=%E2%98%83"


async def test_what_proves_who_asks_stays_at_its_origin(api: Api) -> None:
    async def resolver(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    api.replies(
        response(status=302, Location="/same"),
        response(status=307, Location=f"http://other.test:{api.port}/other?x=1"),
        data("there"),
    )
    auth = {"type": "bearer", "token": "very-secret"}
    headers = {"X-Key": "also-secret", "Accept": "text/plain"}
    async with http_tool(api.url, resolver=resolver, auth=auth, headers=headers) as call:
        assert (await call()).result == "there"
    first, same, other = api.seen
    assert first.headers["authorization"] == same.headers["authorization"] == "Bearer very-secret"
    assert "secret" not in str(other.headers)
    assert (other.target, other.headers["accept"]) == ("/other?x=1", "text/plain")


async def test_a_post_is_not_redirected(api: Api) -> None:
    api.reply = lambda _: response(status=307, Location="/there")
    async with http_tool(api.url, method="POST") as call:
        assert "only GET and HEAD" in (await call()).error
    assert len(api.seen) == 1


async def test_proxies_of_the_environment_are_not_used(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with http_tool(api.url) as call:
        assert (await call()).success
