"""What holds for every route of the app, by the app's own list of them: a new route is covered as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from starlette.routing import BaseRoute, Route

from tests.support.raw_http import Answer, RawClient, request
from tests.support.web_app import CONFIG, WebApp, web_app
from toolspan_bridge.cli.host import TERMINAL
from toolspan_bridge.sessions.chosen.config import ConfigChoice
from toolspan_bridge.web.app.application import Application, public_paths
from toolspan_bridge.web.app.state import App
from toolspan_server.http_server.access import AccessOptions

pytestmark = pytest.mark.long

TOKEN = "a-token-of-the-tests-0123456789"
LIMITS = "web: {requests_per_minute: 1000000}\nlimits: {message_bytes: 100000}\n"
_ALL = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
_OPEN = public_paths(page=True)
_WITH_BODY = ("POST", "PUT", "PATCH")
_FOREIGN = (
    ("origin", "http://evil.example"),
    ("origin", "null"),
    ("origin", "file://"),
    ("origin", "http://localhost:80.evil.example"),
    ("origin", "http://localhost:1"),
    ("sec-fetch-site", "cross-site"),
    ("sec-fetch-site", "same-site"),
)
_NO_JSON = (b"{", b"", b"\xff", b'{"a":NaN}', b"[" * 50_000, b'"\\ud800"')
_SETS_NOTHING = re.compile(r"command|url|config|env|argv|exec|headers|address|path", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """A path of the app with its parameters filled in, and the methods that it answers."""

    pattern: str
    path: str
    methods: tuple[str, ...]
    is_open: bool

    def __str__(self) -> str:
        return self.pattern


def _routes() -> list[Route]:
    with TemporaryDirectory() as folder:
        config = Path(folder) / "toolspan.yaml"
        config.write_text(CONFIG)
        app = Application(App(ConfigChoice((str(config),)), TERMINAL), AccessOptions("127.0.0.1"))

        async def listed() -> list[BaseRoute]:
            async with app.running():
                return [*app.routes]

        found = anyio.run(listed)
    assert all(isinstance(each, Route) for each in found), "routes of another sort need a test of their own"
    return [each for each in found if isinstance(each, Route)]


def _place(route: Route) -> Place:
    path = re.sub(r"\{\w+(:path)?\}", "0123456789abcdef", route.path)
    methods = route.methods or getattr(route.app, "_methods", ())
    is_open = any(route.path == each or path == each for each in public_paths(page=True))
    return Place(
        route.path, path, tuple(sorted(set(methods))), is_open or path.startswith("/ui/") or path == "/"
    )


PLACES = [_place(route) for route in _routes()]
_every = pytest.mark.parametrize("place", PLACES, ids=str)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebApp]:
    """An app without a token, on loopback."""
    with web_app(tmp_path_factory.mktemp("app"), "--no-open", config=CONFIG + LIMITS, verb="ui") as running:
        yield running
        assert running.process.poll() is None
        assert running.errors.read_text().partition("Traceback")[2] == ""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebApp]:
    """An app that needs a token."""
    folder = tmp_path_factory.mktemp("guarded")
    with web_app(folder, "--no-open", config=CONFIG + LIMITS, verb="ui", token=TOKEN) as running:
        yield running
        assert TOKEN not in running.errors.read_text()


def _sent(
    app: WebApp, method: str, path: str, *headers: tuple[str, str], body: bytes | None = None
) -> Answer:
    host = ("host", f"127.0.0.1:{app.port}")
    if not any(name == "content-type" for name, _ in headers) and body is not None:
        headers = (*headers, ("content-type", "application/json"))
    with RawClient(("127.0.0.1", app.port)) as client:
        client.send(request(method, path, *headers, body=body, host=host))
        return client.answer(of_head=method == "HEAD")


def _is_error(answer: Answer, place: Place, status: int) -> None:
    """``answer`` has that status, in the shape that clients of ``place`` read."""
    assert answer.status == status, (str(place), answer)
    if place.path.startswith("/v1/"):
        assert answer.headers["content-type"] == "application/json"
        assert answer.message["error"]["message"]
        assert (answer.message.get("type") == "error") == place.path.startswith("/v1/messages")
    else:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.message["status"] == status
        assert answer.message["detail"] and answer.message["code"]


@pytest.mark.requirement("I15.1.80")
def test_the_list_has_page_api_gateway_and_health() -> None:
    paths = {place.pattern for place in PLACES}
    assert {"/ui", "/healthz", "/api/health", "/api/conversations/{id}", "/v1/chat/completions"} <= paths
    assert all(place.methods for place in PLACES)


@pytest.mark.requirement("I15.1.80")
@_every
def test_pages_of_others_are_refused(app: WebApp, place: Place) -> None:
    for method, header in product(place.methods, _FOREIGN):
        body = b"{}" if method in _WITH_BODY else None
        if method == "HEAD":
            assert _sent(app, method, place.path, header).status == 403
        else:
            answer = _sent(app, method, place.path, header, body=body)
            _is_error(answer, place, 403)
            assert "access-control-allow-origin" not in answer.headers


@pytest.mark.requirement("I15.1.80")
@_every
def test_a_form_or_a_text_of_another_page_does_nothing(app: WebApp, place: Place) -> None:
    """What a browser sends without asking first; an old one names no origin."""
    for method in set(place.methods) & set(_WITH_BODY):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            answer = _sent(app, method, place.path, ("content-type", kind), body=b'{"name": "x"}')
            assert answer.status == 415, (str(place), answer)


@pytest.mark.requirement("I15.1.80")
@_every
def test_a_rebound_name_is_refused(app: WebApp, place: Place) -> None:
    for host in ("evil.example", "localhost:@evil", f"127.0.0.1.evil.example:{app.port}"):
        with RawClient(("127.0.0.1", app.port)) as client:
            client.send(request(place.methods[0], place.path, host=("host", host)))
            assert client.answer(of_head=place.methods[0] == "HEAD").status == 421


@pytest.mark.requirement("I15.1.81")
@_every
def test_without_the_token_nothing_is_answered(guarded: WebApp, place: Place) -> None:
    for method in place.methods:
        body = b"{}" if method in _WITH_BODY else None
        for headers in (
            (),
            (("authorization", "Bearer wrong"),),
            (("authorization", f"Basic {TOKEN}"),),
            (("authorization", f"Bearer {TOKEN}"), ("authorization", f"Bearer {TOKEN}")),
        ):
            answer = _sent(guarded, method, f"{place.path}?token={TOKEN}", *headers, body=body)
            if place.is_open and len(headers) < 2:
                assert answer.status != 401
            elif method == "HEAD":
                assert answer.status == 401
            else:
                _is_error(answer, place, 401)
                assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.requirement("I15.1.81")
@_every
def test_another_method_is_405_and_those_that_are_allowed_are_named(app: WebApp, place: Place) -> None:
    allowed: set[str] = set()
    for method in _ALL:
        body = b"{}" if method in _WITH_BODY else None
        if method in place.methods:
            continue
        answer = _sent(app, method, place.path, body=body)
        if method == "OPTIONS" and answer.status == 204:
            allowed |= set(answer.headers["allow"].split(", "))
            continue
        _is_error(answer, place, 405)
        named = set(answer.headers["allow"].split(", "))
        assert set(place.methods) <= named, (str(place), named)
        assert method not in named
        allowed |= named
    assert allowed - {"OPTIONS", "HEAD"} == set(place.methods) - {"OPTIONS", "HEAD"}


@pytest.mark.requirement("I15.1.81")
@_every
def test_a_body_that_is_no_json_is_refused(app: WebApp, place: Place) -> None:
    for method, body in product(set(place.methods) & set(_WITH_BODY), _NO_JSON):
        answer = _sent(app, method, place.path, body=body)
        if body == b"" and answer.status not in (400, 422):
            assert answer.status in (200, 202, 404, 409)  # it takes none
        else:
            assert answer.status in (400, 422), (str(place), answer)
            _is_error(answer, place, answer.status)


@pytest.mark.requirement("I15.1.81")
@_every
def test_a_body_that_is_too_large_is_413_declared_or_in_chunks(app: WebApp, place: Place) -> None:
    kind = ("content-type", "application/json")
    host = ("host", f"127.0.0.1:{app.port}")
    for method in set(place.methods) & set(_WITH_BODY):
        with RawClient(("127.0.0.1", app.port)) as client:
            client.send(request(method, place.path, kind, ("content-length", "100001"), host=host))
            _is_error(client.answer(), place, 413)
        with RawClient(("127.0.0.1", app.port)) as client:
            client.send(request(method, place.path, kind, ("transfer-encoding", "chunked"), host=host))
            client.send(*(b"8000\r\n" + b" " * 0x8000 + b"\r\n" for _ in range(5)))
            _is_error(client.answer(), place, 413)


@pytest.mark.requirement("I15.1.81")
@_every
def test_hostile_paths_lead_nowhere(app: WebApp, place: Place) -> None:
    for path in (
        f"{place.path}/..%2f..%2fetc/passwd",
        f"{place.path}/%5c..%5c..%5cetc%5cpasswd",
        f"{place.path}/../../../etc/passwd",
        f"{place.path}%00",
        f"{place.path}%0d%0aset-cookie:a=b",
        f"/..%2f{place.path}",
        f"/{place.path}",
        f"{place.path}/%ff%fe",
        f"{place.path}%e2%80%ae",
    ):
        answer = _sent(app, "GET", path)
        assert answer.status in (404, 405), (path, answer)
        assert b"root:" not in answer.body
        assert "set-cookie" not in answer.headers
    assert _sent(app, "GET", place.path + "a" * 70_000).status in (400, 414, 431)


@pytest.mark.requirement("I15.1.82")
def test_no_route_takes_a_command_an_address_or_a_config(app: WebApp) -> None:
    """Names of members of bodies and queries, of every endpoint; a text to check as a config is only read."""
    document = app.ask("GET", "/api/openapi.json").json
    bodies = {
        each["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        for methods in document["paths"].values()
        for each in methods.values()
        if "$ref" in json.dumps(each.get("requestBody", {}))
    }
    members = {
        f"{name}.{member}"
        for name in bodies
        for member in document["components"]["schemas"][name].get("properties", {})
        if _SETS_NOTHING.search(member)
    }
    assert bodies and members == set()
    assert not [place.pattern for place in PLACES if re.search(r"/(proxy|exec|spawn|reload)", place.pattern)]
    before = (Path(app.errors).parent / "toolspan.yaml").read_bytes()
    text = json.dumps({"text": "mcp_servers: {x: {command: touch, args: [/tmp/x]}}"}).encode()
    assert _sent(app, "POST", "/api/config/check", body=text).status == 200
    assert _sent(app, "PUT", "/api/config", body=text).status == 405
    assert (Path(app.errors).parent / "toolspan.yaml").read_bytes() == before
