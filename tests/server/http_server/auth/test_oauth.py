"""Tokens of an authorization server: which are good, and how its keys are come by."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import jwt
import pytest

from tests.server.http_server.auth.test_tokens import ask, served
from tests.support.asgi import Client, Reply
from tests.support.issuer import AUDIENCE, Issuer, issuer
from toolspan_server.config.models.auth import OAuthConfig
from toolspan_server.http_server.auth import UNVERIFIED, Auth
from toolspan_server.http_server.auth._fetch import MOST_BYTES, fetched
from toolspan_server.http_server.auth._jwt import Issuer as TokenIssuer
from toolspan_server.http_server.auth._keys import Keys
from toolspan_server.http_server.auth._principal import KeysUnavailable
from toolspan_server.http_server.guard import Access, Guard, RefusedResponse

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.3.7")]


@pytest.fixture(scope="module")
def login() -> Iterator[Issuer]:
    with issuer() as made:
        yield made


def oauth(login: Issuer, **more: Any) -> dict[str, Any]:
    return {"oauth": {"issuer": login.url, "audience": [AUDIENCE], **more}}


async def test_a_token_of_the_issuer_for_this_server_is_good(tmp_path: Path, login: Issuer) -> None:
    async with served(tmp_path, auth=oauth(login)) as application:
        for claims in ({}, {"aud": ["other", AUDIENCE]}, {"exp": int(time.time()) - 5}, {"exp": 10**400}):
            assert (await ask(application, login.token(**claims))).status == 200, claims


def _forged(login: Issuer, header: dict[str, Any]) -> str:
    parts = login.token().split(".")
    encoded = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
    return ".".join([encoded, *parts[1:]])


async def test_any_other_token_is_401_and_says_nothing_of_itself(tmp_path: Path, login: Issuer) -> None:
    now = int(time.time())
    public = json.dumps(login.documents["/keys"]["keys"][0])
    hmac = jwt.encode(
        {"iss": login.url, "sub": "ann", "aud": AUDIENCE, "exp": now + 60}, public * 2, algorithm="HS256"
    )
    bad = {
        "expired": login.token(exp=now - 600),
        "without an end": login.token(exp=None),
        "not yet": login.token(nbf=now + 600),
        "for another": login.token(aud="https://other.example"),
        "for nobody": login.token(aud=None),
        "of another issuer": login.token(iss="https://evil.example"),
        "of nobody": login.token(sub=None),
        "changed": login.token()[:-6] + "AAAAAA",
        "unsigned": _forged(login, {"alg": "none"})[:-86],
        "signed with the public key": hmac,
        "another algorithm": _forged(login, {"alg": "RS256", "kid": "one"}),
        "critical": login.token(header={"crit": ["x"], "x": 1}),
        "another type": login.token(header={"typ": "dpop+jwt"}),
        "unknown key": _forged(login, {"alg": "ES256", "kid": "unknown"}),
        "a key that is no text": _forged(login, {"alg": "ES256", "kid": 5}),
        "no JSON": "a.b.c",
        "huge": login.token(more="x" * 20_000),
    }
    async with served(tmp_path, auth=oauth(login)) as application:
        for what, token in bad.items():
            refused = await ask(application, token)
            assert (refused.status, refused.message["error"]["message"]) == (
                401,
                "The bearer token is not good",
            ), what
            assert 'error="invalid_token"' in refused.headers["www-authenticate"]


async def test_scopes_come_from_scope_or_scp(tmp_path: Path, login: Issuer) -> None:
    toolsets = {"safe": {"tools": ["add"], "auth": {"scopes": ["read"]}}}
    auth = oauth(login, required_scopes=["mcp"])
    async with served(tmp_path, auth=auth, toolsets=toolsets) as application:
        assert (await ask(application, login.token(scope="mcp read"))).status == 200
        assert (await ask(application, login.token(scp=["mcp", "read"]))).status == 200
        for claims in ({}, {"scope": "read"}, {"scope": "mcp"}, {"scope": {"read": 1}}):
            refused = await ask(application, login.token(**claims))
            assert refused.status == 403, claims
            assert 'error="insufficient_scope"' in refused.headers["www-authenticate"]


async def test_a_client_without_a_token_is_told_where_to_get_one(tmp_path: Path, login: Issuer) -> None:
    toolsets = {"safe": {"tools": ["add"], "auth": {"scopes": ["read"]}}}
    auth = oauth(login, required_scopes=["mcp"], public_url="https://tools.example.com/")
    async with served(tmp_path, auth=auth, toolsets=toolsets) as application:
        client = Client(application.app)
        refused = await ask(application, None, "/mcp/safe")
        assert refused.headers["www-authenticate"] == (
            'Bearer resource_metadata="https://tools.example.com'
            '/.well-known/oauth-protected-resource/mcp/safe", scope="mcp read"'
        )
        for path, resource in (("", "/mcp"), ("/mcp", "/mcp"), ("/mcp/safe", "/mcp/safe"), ("/sse", "/sse")):
            reply = await client.ask("GET", path=f"/.well-known/oauth-protected-resource{path}")
            assert reply.status == 200
            assert reply.message["resource"] == f"https://tools.example.com{resource}"
            assert reply.message["authorization_servers"] == [login.url]
            assert reply.message["scopes_supported"] == ["mcp", "read"]
        assert (await client.ask("GET", path="/.well-known/oauth-protected-resource/x")).status == 401
        assert (await client.ask("DELETE", path="/.well-known/oauth-protected-resource")).status == 405
        odd = await client.ask("GET", path='/mcp/"evil')
        assert "evil" not in odd.headers["www-authenticate"]


async def test_without_a_public_url_the_metadata_names_the_host_that_was_asked(
    tmp_path: Path, login: Issuer
) -> None:
    async with served(tmp_path, auth=oauth(login)) as application:
        reply = await Client(application.app).ask("GET", path="/.well-known/oauth-protected-resource/mcp")
        assert reply.message["resource"] == "http://localhost/mcp"


async def test_a_token_is_verified_once_and_ends_when_it_says(
    tmp_path: Path, login: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path, auth=oauth(login, leeway_seconds=0)) as application:
        token = login.token(exp=int(time.time()) + 30)
        assert (await ask(application, token)).status == 200
        decode = jwt.decode
        monkeypatch.setattr(jwt, "decode", None)
        assert (await ask(application, token)).status == 200
        monkeypatch.setattr(jwt, "decode", decode)
        auth = application.guard._auth
        assert auth is not None
        monkeypatch.setattr(auth, "_clock", lambda: time.time() + 60)
        monkeypatch.setattr(time, "time", lambda now=time.time: now() + 60)
        assert (await ask(application, token)).status == 401


async def test_keys_that_cannot_be_had_are_503_and_let_nobody_in(tmp_path: Path) -> None:
    with issuer() as login:
        token = login.token()
        del login.documents["/keys"]
        async with served(tmp_path, auth=oauth(login)) as application:
            refused = await ask(application, token)
            assert (refused.status, "retry-after" in refused.headers) == (503, True)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


async def test_keys_are_fetched_again_when_old_or_missing_but_not_at_every_token() -> None:
    with issuer() as login:
        clock = Clock()
        keys = Keys(OAuthConfig(issuer=login.url, audience=["x"]), clock=clock)
        for _ in range(3):
            assert len(await keys.find("one")) == 1
        assert login.asked["/keys"] == 1
        login.add_key("two")
        assert await keys.find("two") == []
        clock.now += 11
        assert len(await keys.find("two")) == 1
        for _ in range(5):
            assert await keys.find("made up") == []
        assert login.asked["/keys"] == 2
        clock.now += 601
        await keys.find("one")
        assert (login.asked["/keys"], login.asked["/.well-known/openid-configuration"]) == (3, 1)


async def test_known_keys_outlast_a_silent_issuer_but_not_for_long() -> None:
    with issuer() as login:
        clock = Clock()
        keys = Keys(OAuthConfig(issuer=login.url, audience=["x"], jwks_url=f"{login.url}/keys"), clock=clock)
        await keys.find("one")
        del login.documents["/keys"]
        clock.now += 700
        assert len(await keys.find("one")) == 1
        clock.now += 3_000
        with pytest.raises(KeysUnavailable, match="status 404"):
            await keys.find("one")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (b"x" * (MOST_BYTES + 1), "more than"),
        (b"[" * 100_000, "no JSON object"),
        ([], "no JSON object"),
        ({"keys": "none"}, "holds no 'keys'"),
    ],
)
async def test_an_issuer_that_answers_nonsense_has_no_keys(document: Any, message: str) -> None:
    with issuer() as login:
        login.documents["/keys"] = document
        keys = Keys(OAuthConfig(issuer=login.url, audience=["x"], jwks_url=f"{login.url}/keys"))
        with pytest.raises(KeysUnavailable, match=message):
            await keys.find("one")


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"issuer": "https://evil.example", "jwks_uri": "https://evil.example/keys"}, "another issuer"),
        ({"jwks_uri": "file:///etc/passwd"}, "names no https URL"),
        ({"jwks_uri": "http://169.254.169.254/keys"}, "names no https URL"),
        ({}, "names no https URL"),
    ],
)
async def test_metadata_that_leads_elsewhere_is_not_followed(metadata: dict[str, Any], message: str) -> None:
    with issuer() as login:
        login.documents["/.well-known/openid-configuration"] = {"issuer": login.url, **metadata}
        with pytest.raises(KeysUnavailable, match=message):
            await Keys(OAuthConfig(issuer=login.url, audience=["x"])).find("one")


async def test_a_key_that_is_taken_back_ends_what_it_has_signed() -> None:
    with issuer() as login:
        later = 0.0
        config = OAuthConfig(issuer=login.url, audience=[AUDIENCE], refresh_seconds=60)
        keys = Keys(config, clock=lambda: later)
        auth = Auth({}, {}, TokenIssuer(config, keys, {}), clock=lambda: time.time() + later)
        request = {"path": "/mcp", "headers": []}
        token = b"Bearer " + login.token(exp=int(time.time()) + 1_000_000).encode()
        assert auth.refusal(request, token) is UNVERIFIED
        assert await auth.verify(request, token) is None
        assert auth.refusal(request, token) is None
        login.documents["/keys"]["keys"].clear()
        later = 61.0
        assert auth.refusal(request, token) is UNVERIFIED
        refused = await auth.verify(request, token)
    assert refused is not None and refused.status == 401


async def test_a_config_that_comes_while_a_token_is_looked_at_costs_no_call(login: Issuer) -> None:
    asked, released = anyio.Event(), anyio.Event()

    async def slow(url: str) -> dict[str, Any]:
        asked.set()
        await released.wait()
        return await fetched(url)

    def access(fetch: Any) -> Access:
        config = OAuthConfig(issuer=login.url, audience=[AUDIENCE])
        return Access(auth=Auth({}, {}, TokenIssuer(config, Keys(config, fetch), {})))

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await RefusedResponse(200, "in").send(send)

    guard, reply = Guard(app, access(slow)), Reply()
    headers = {"authorization": f"Bearer {login.token()}"}
    async with anyio.create_task_group() as group:
        group.start_soon(partial(Client(guard).ask, "GET", headers=headers, reply=reply))
        await asked.wait()
        guard.replace(access(fetched))
        released.set()
    assert reply.status == 200
