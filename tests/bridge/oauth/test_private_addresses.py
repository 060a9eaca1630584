"""What a public server names at a private address is not asked, by whatever name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

import pytest

from tests.support.authority import Answer, Site, open_site
from toolspan_bridge.errors import AuthError
from toolspan_bridge.oauth._requests import Requests

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.2.88")]

SERVER = "https://mcp.public.example/mcp"


async def resolve(host: str) -> Sequence[str]:
    """Addresses of names that only this test knows; those of addresses are themselves."""
    named = {
        "mcp.public.example": ("93.184.216.34", "2606:2800:220:1::1"),
        "mcp.corp.example": ("10.1.2.3",),
        "login.corp.example": ("10.0.0.5",),
        "login.here.example": ("127.0.0.1",),
        "half.example": ("93.184.216.34", "192.168.0.9"),
    }
    return named.get(host, (host,))


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("https://login.corp.example/token", "private"),
        ("https://login.here.example/token", "loopback"),
        ("https://half.example/token", "private"),
        ("https://10.0.0.5/token", "private"),
        ("https://[fd00::5]/token", "private"),
        ("https://[::ffff:192.168.0.9]/token", "private"),
        ("https://169.254.169.254/latest/meta-data", "link-local"),
        ("https://100.64.0.1/token", "shared by a carrier"),
    ],
)
async def test_a_public_servers_authority_at_a_private_address_is_refused(url: str, what: str) -> None:
    asking = Requests(SERVER, resolve=resolve)
    try:
        with pytest.raises(AuthError, match=f"at a {what} address, which mcp.public.example is not: refused"):
            await asking.get(url)
    finally:
        await asking.aclose()


@pytest.fixture
def site() -> Iterator[Site]:
    """Something on this machine, which nobody is to be led to."""
    made = Site()
    made.routes["/token"] = lambda _: Answer(data={"here": True})
    with open_site(made):
        yield made


async def test_what_the_config_names_may_be_private_and_so_may_what_a_private_server_names(
    site: Site,
) -> None:
    port = urlsplit(site.url).port
    url = f"http://login.here.example:{port}/token"
    for server, meant in ((SERVER, ["https://login.here.example"]), ("http://127.0.0.1/mcp", [])):
        asking = Requests(server, meant, resolve)
        try:
            reply = await asking.get(url)
        finally:
            await asking.aclose()
        assert reply.data == {"here": True}
        assert site.asked[-1].headers["host"] == f"login.here.example:{port}"
    asking = Requests("https://mcp.corp.example/mcp", resolve=resolve)
    try:
        with pytest.raises(AuthError, match="loopback"):
            await asking.get(url)
    finally:
        await asking.aclose()
    assert len(site.asked) == 2


async def test_a_proxy_of_the_environment_is_asked_and_decides(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", site.url)
    monkeypatch.setenv("no_proxy", "login.here.example")
    asking = Requests(SERVER, resolve=resolve)
    try:
        assert (await asking.get("http://login.corp.example/token")).data == {"here": True}
        with pytest.raises(AuthError, match="loopback"):
            await asking.get("http://login.here.example/token")
    finally:
        await asking.aclose()
    assert [each.headers["host"] for each in site.asked] == ["login.corp.example"]
