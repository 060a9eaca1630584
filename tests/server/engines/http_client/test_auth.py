"""Who makes the requests: sent where it belongs, and shown nowhere else."""

from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.configs import told
from tests.support.http_api import Api, Seen, data, echoed, http_tool, response, serving
from toolspan_server import ConfigError, running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.config import load_config

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.3", "I4.4.1")]


@pytest.fixture
async def api() -> AsyncGenerator[Api]:
    async with serving() as api:
        yield api


@pytest.mark.parametrize(
    ("auth", "name", "sent"),
    [
        ({"type": "bearer", "token": "t0ken"}, "authorization", "Bearer t0ken"),
        (
            {"type": "basic", "username": "user", "password": "pässword"},
            "authorization",
            "Basic " + b64encode("user:pässword".encode()).decode(),
        ),
        ({"type": "api_key", "name": "X-Key", "value": "k3y-value"}, "x-key", "k3y-value"),
        ({"type": "api_key", "name": "sid", "in": "cookie", "value": "k3y;x"}, "cookie", "sid=k3y%3Bx"),
    ],
)
async def test_what_proves_who_asks_is_sent_and_not_shown(api: Api, auth: Any, name: str, sent: str) -> None:
    async with http_tool(api.url, auth=auth) as call:
        result = await call()
    assert api.seen[0].headers[name].encode("latin-1").decode() == sent
    secret = next(iter({"token", "password", "value"} & auth.keys()))
    assert auth[secret] not in str(result.result) and sent not in str(result.result)
    assert "***" in str(result.result)


async def test_a_key_in_the_query_is_added_to_it_and_not_shown(api: Api) -> None:
    auth = {"type": "api_key", "name": "key", "in": "query", "value": "a secret/key"}
    async with http_tool(f"{api.url}/x?a=1", auth=auth) as call:
        result = await call()
    assert api.seen[0].target == "/x?a=1&key=a%20secret%2Fkey"
    assert result.result["target"] == "/x?a=1&key=***"


async def test_secrets_of_a_failure_are_not_shown(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "toolspan_server")
    auth = {"type": "bearer", "token": "s3cret-token"}
    api.reply = lambda seen: response(f"bad token {auth['token']}", 401, Content_Type="text/plain")
    async with http_tool(api.url, auth=auth) as call:
        result = await call()
    assert result.error == "127.0.0.1 answered HTTP 401 Unauthorized: bad token ***"
    assert "s3cret" not in caplog.text


async def test_a_secret_in_a_header_of_the_config_is_not_shown(api: Api) -> None:
    headers = {"Authorization": "Bearer written-out", "X-Api-Key": "also-written", "X-Mode": "plain-text"}
    async with http_tool(api.url, headers=headers) as call:
        shown = str((await call()).result)
    assert "written" not in shown and "plain-text" in shown


@pytest.mark.requirement("I9.3.17")
@pytest.mark.parametrize("value", ["first\nsecond-line", "second-line\r\n", "second-line\u00e9"])
async def test_a_secret_that_no_header_can_hold_is_neither_sent_nor_shown(
    api: Api, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("HTTP_TEST_SECRET", "good")
    async with http_tool(api.url, auth={"type": "bearer", "token_env": "HTTP_TEST_SECRET"}) as call:
        monkeypatch.setenv("HTTP_TEST_SECRET", value)
        result = await call()
    assert not result.success and "second-line" not in result.error
    assert "The credential token holds" in result.error
    assert api.seen == []


CONFIG = """
tools:
  registry:
    - name: t
      description: T.
      implementation:
        type: http
        url: {url}
        allow_private: [127.0.0.1]
        auth: {{type: bearer, {token}}}
"""


async def test_a_token_comes_from_the_environment(
    api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_TEST_SECRET", "from-env")
    for token in ("token_env: HTTP_TEST_SECRET", "token: '${HTTP_TEST_SECRET}'"):
        (tmp_path / "c.yaml").write_text(CONFIG.format(url=api.url, token=token))
        config = load_config(tmp_path / "c.yaml")
        assert config.redact("x from-env y") == "x *** y"
        async with running(config) as runtime:
            assert "from-env" not in str(await runtime.execute("t", None, LOCAL))
        assert api.seen.pop().headers["authorization"] == "Bearer from-env"


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ("token_env: UNSET_X", "auth.token_env: environment variable UNSET_X is not set"),
        ("username: u", "type 'bearer' needs token or token_env"),
        ("token: a, token_env: B", "'token' is given as well"),
        ('token: "a\\n"', "auth.token: the value holds a control character, such as a line break"),
        ('token: "a\\rb"', "auth.token: the value holds a control character, such as a line break"),
        ("token: caf\u00e9", "auth.token: the value holds a character that no header can hold"),
        ("token_env: LINE_X", "the value of the environment variable LINE_X holds a control character"),
        ("token: a, in: query", "'in' means nothing for type 'bearer'"),
    ],
)
def test_credentials_that_are_not_right_are_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str, message: str
) -> None:
    monkeypatch.setenv("LINE_X", "from-a-file\n")
    lines = told(tmp_path, CONFIG.format(url="http://127.0.0.1/", token=token))
    assert any(message in line for line in lines), lines
    assert not any("from-a-file" in line for line in lines)


@pytest.mark.requirement("I9.3.17")
@pytest.mark.parametrize(
    ("auth", "fine"),
    [
        ("type: basic, username: u, password: p\u00e4ss", True),
        ("type: basic, username: 'a:b', password: p", False),
        ('type: basic, username: u, password: "p\\n"', False),
        ("type: api_key, name: X-Key, value: caf\u00e9", False),
        ("type: api_key, name: key, in: query, value: caf\u00e9", True),
        ("type: api_key, name: sid, in: cookie, value: 'a;b'", True),
        ('type: api_key, name: key, in: query, value: "a\\tb"', False),
        ('type: oauth2, token_url: "https://a.example/t", client_id: "i\\n", client_secret: s', False),
    ],
)
def test_a_secret_is_held_to_what_its_place_can_carry(tmp_path: Path, auth: str, fine: bool) -> None:
    text = CONFIG.format(url="http://127.0.0.1/", token="X").replace("type: bearer, X", auth)
    (tmp_path / "c.yaml").write_text(text)
    if fine:
        load_config(tmp_path / "c.yaml")
        return
    with pytest.raises(ConfigError, match="auth"):
        load_config(tmp_path / "c.yaml")


class Tokens:
    """A token endpoint at ``/token`` and an API that takes its newest token only."""

    def __init__(self, **answer: Any) -> None:
        self.given = 0
        self.asked: list[Seen] = []
        self.answer = answer

    def __call__(self, seen: Seen) -> bytes:
        if seen.path == "/token":
            self.given += 1
            self.asked.append(seen)
            return data({"access_token": f"token-{self.given}", "token_type": "bearer", **self.answer})
        good = seen.headers.get("authorization") == f"Bearer token-{self.given}"
        return echoed(seen) if good else response(status=401)


def oauth(api: Api, **more: Any) -> dict[str, Any]:
    client = {"client_id": "me", "client_secret": "s3cret & more"}
    return {"type": "oauth2", "token_url": f"{api.url}/token", **client, **more}


async def test_a_token_is_fetched_once_for_calls_at_the_same_time(api: Api) -> None:
    api.reply = tokens = Tokens(expires_in=3600)
    async with http_tool(f"{api.url}/x", auth=oauth(api, scopes=["a", "b"])) as call:
        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(call)
        result = await call()
    assert tokens.given == 1 and "token-1" not in str(result.result)
    assert tokens.asked[0].body == b"grant_type=client_credentials&scope=a+b"
    assert tokens.asked[0].headers["authorization"] == "Basic " + b64encode(b"me:s3cret+%26+more").decode()


async def test_a_client_may_show_its_secret_in_the_body(api: Api) -> None:
    api.reply = tokens = Tokens()
    auth = oauth(api, client_auth="post", audience="api", token_params={"resource": "r"})
    async with http_tool(f"{api.url}/x", auth=auth) as call:
        assert (await call()).success
    assert tokens.asked[0].body == (
        b"grant_type=client_credentials&resource=r&audience=api&client_id=me&client_secret=s3cret+%26+more"
    )


@pytest.mark.parametrize(
    ("expires", "fetched"), [(0, 3), (-5, 3), (3600, 1), ("3600", 1), ("x", 1), (None, 1)]
)
async def test_a_token_is_renewed_before_it_ends(api: Api, expires: Any, fetched: int) -> None:
    api.reply = tokens = Tokens(expires_in=expires)
    async with http_tool(f"{api.url}/x", auth=oauth(api)) as call:
        for _ in range(3):
            assert (await call()).success
    assert tokens.given == fetched


async def test_a_token_that_is_not_taken_any_more_is_replaced(api: Api) -> None:
    api.reply = tokens = Tokens(expires_in=3600)
    async with http_tool(f"{api.url}/x", auth=oauth(api)) as call:
        assert (await call()).success
        tokens.given = 7
        assert (await call()).success
    assert tokens.given == 8


@pytest.mark.parametrize(
    "answer",
    [
        data({"error": "invalid_client", "error_description": "s3cret & more"}, 401),
        data({"access_token": 5}),
        data({"access_token": "a\nb"}),
        data({"access_token": "a", "token_type": "mac"}),
        response("<html>"),
        data([]),
        data({"access_token": "x" * 70_000}),
    ],
)
async def test_a_token_that_cannot_be_had_is_a_failure(api: Api, answer: bytes) -> None:
    api.reply = lambda _: answer
    async with http_tool(f"{api.url}/x", auth=oauth(api)) as call:
        result = await call()
    assert result.error_code in ("auth_failed", "response_too_large") and "s3cret" not in result.error


def test_the_token_endpoint_has_to_be_an_allowed_host() -> None:
    from toolspan_server import Config

    auth = {"type": "oauth2", "token_url": "https://evil.example/t", "client_id": "a", "client_secret": "b"}
    described = {"type": "http", "url": "https://a.example/", "auth": auth, "allowed_domains": ["a.example"]}
    entry = {"name": "t", "description": "T.", "implementation": described}
    with pytest.raises((ConfigError, ValueError), match=r"evil.example.*not in allowed_domains"):
        Config.model_validate({"tools": {"registry": [entry]}})
