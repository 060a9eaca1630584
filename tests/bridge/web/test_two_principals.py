"""Two people with tokens of one issuer: what is one's is never the other's, by any route with an id."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support.background import ANSWERS, TOOLS
from tests.support.issuer import AUDIENCE, Issuer, issuer
from tests.support.waiting import eventually
from tests.support.web_app import Reply, WebApp, web_app

pytestmark = [pytest.mark.long, pytest.mark.requirement("I15.1.85")]

SUITE = {"scenarios": [{"name": "one", "query": "look", "expect": {"calls": [{"tool": "look"}]}}]}
SECRET = "what-ann-alone-knows"


@dataclass(frozen=True)
class Person:
    """Who asks with a token of their own."""

    app: WebApp
    token: str
    model: str

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        """The answer to one request."""
        return self.app.ask(method, path, body, None, Authorization=f"Bearer {self.token}", **headers)

    def begun(self, **details: Any) -> str:
        """The id of a new conversation."""
        return str(self.ask("POST", "/api/conversations", {"model": self.model, **details}).json["id"])


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Person, Person]]:
    folder = tmp_path_factory.mktemp("app")
    with issuer() as made, _app(folder, made) as app:
        model = f"scripted/{folder / 'script.yaml'}"
        until = int(time.time()) + 3_600
        yield (
            Person(app, made.token(sub="ann", exp=until), model),
            Person(app, made.token(sub="bob", exp=until), model),
        )
        assert app.errors.read_text().partition("Traceback")[2] == ""


def _app(folder: Path, made: Issuer) -> Any:
    (folder / "script.yaml").write_text(json.dumps({"answers": ANSWERS}))
    (folder / "adding.yaml").write_text(json.dumps(SUITE))
    auth = f"auth: {{oauth: {{issuer: '{made.url}', audience: ['{AUDIENCE}']}}}}\n"
    return web_app(folder, config=TOOLS + auth + "web: {requests_per_minute: 1000000}\n")


def _all_routes(app: WebApp, prefix: str) -> list[tuple[str, str]]:
    """The methods and paths below ``prefix`` that take an id, by the description of the app itself."""
    paths: dict[str, dict[str, Any]] = app.ask("GET", "/api/openapi.json").json["paths"]
    found = [(m.upper(), path) for path, each in paths.items() if path.startswith(prefix) for m in each]
    assert found
    return found


def test_conversations_of_another_are_not_there_by_any_route(people: tuple[Person, Person]) -> None:
    ann, bob = people
    talk = ann.begun(system=SECRET)
    ann.ask("POST", f"/api/conversations/{talk}/messages", {"text": "remove it"})
    shown = f"/api/conversations/{talk}"
    assert eventually(lambda: bool(ann.ask("GET", shown).json["pending"]))
    asked = ann.ask("GET", shown).json["pending"][0]["request"]
    bodies: dict[str, dict[str, str]] = {"/messages": {"text": "x"}, "/answers": {"decision": "allow_once"}}
    nothing: dict[str, str] = {}
    for method, path in _all_routes(ann.app, "/api/conversations/{id}"):
        place = path.replace("{id}", talk).replace("{request}", asked)
        ending = next((body for name, body in bodies.items() if name in path), nothing)
        reply = bob.ask(method, place, ending if method in ("POST", "PATCH") else None)
        unknown = bob.ask(
            method, place.replace(talk, "0" * 32), ending if method in ("POST", "PATCH") else None
        )
        assert reply.status == unknown.status == 404, (method, path, reply)
        assert reply.body.replace(talk.encode(), b"") == unknown.body.replace(b"0" * 32, b"")
        assert SECRET.encode() not in reply.body
    assert bob.ask("GET", "/api/conversations").json["conversations"] == []
    assert ann.ask("GET", shown).json["pending"]  # nobody answered it
    ann.ask("POST", f"{shown}/answers/{asked}", {"decision": "deny"})


def test_presets_are_the_callers_in_conversations_too(people: tuple[Person, Person]) -> None:
    ann, bob = people
    wanted = {"name": "of-ann/1", "instructions": SECRET, "model": ann.model, "enabled_tools": ["look"]}
    made = ann.ask("POST", "/api/presets", wanted).json
    for name in ("of-ann%2F1", made["id"]):
        assert ann.ask("GET", f"/api/presets/{name}").status == 200
        for method, path in _all_routes(ann.app, "/api/presets/{name}"):
            reply = bob.ask(method, path.replace("{name}", name), {} if method == "PUT" else None)
            assert reply.status == 404
            assert SECRET.encode() not in reply.body
    talk = ann.ask("POST", "/api/conversations", {"preset": "of-ann/1"})
    assert (talk.status, talk.json["preset"]) == (201, "of-ann/1")
    ann.ask("POST", f"/api/conversations/{talk.json['id']}/messages", {"text": "hello"})
    shown = f"/api/conversations/{talk.json['id']}"
    assert eventually(lambda: len(ann.ask("GET", shown).json["messages"]) == 2)
    for body in ({"preset": "of-ann/1"}, {"preset": made["id"]}):
        refused = bob.ask("POST", "/api/conversations", body)
        assert refused.status == 422
        assert "presets: none" in refused.json["detail"]
    asked = {"model": "preset/of-ann/1", "messages": [{"role": "user", "content": "look"}]}
    assert bob.ask("POST", "/v1/chat/completions", asked).status == 404
    assert "of-ann" not in bob.ask("GET", "/v1/models").body.decode()
    assert ann.ask("DELETE", f"/api/presets/{made['id']}").status == 204


def test_runs_of_validation_are_not_there_by_any_route(people: tuple[Person, Person]) -> None:
    ann, bob = people
    wanted = {"suites": ["adding"], "models": ["offline/keyword"]}
    run = ann.ask("POST", "/api/validation/runs", wanted).json["id"]
    for method, path in _all_routes(ann.app, "/api/validation/runs/{id}"):
        reply = bob.ask(method, path.replace("{id}", run), {} if method == "POST" else None)
        assert reply.status == 404, (method, path)
    assert bob.ask("GET", "/api/validation/runs").json["runs"] == []
    assert run in [each["id"] for each in ann.ask("GET", "/api/validation/runs").json["runs"]]


def test_a_key_of_one_is_no_key_of_the_other(people: tuple[Person, Person]) -> None:
    ann, bob = people
    body = {"model": "scripted/keys", "success": True}
    replies = [who.ask("POST", "/api/tools/validate", body, Idempotency_Key="same") for who in people]
    assert [reply.json["test_count"] for reply in replies] == [1, 2]
    assert all("idempotent-replayed" not in reply.headers for reply in replies)
    other = {"model": "scripted/other", "success": True}
    assert bob.ask("POST", "/api/tools/validate", other, Idempotency_Key="ann's").status == 200
    assert ann.ask("POST", "/api/tools/validate", body, Idempotency_Key="ann's").status == 200


def test_what_a_server_asks_in_a_call_of_one_is_told_to_nobody_else(people: tuple[Person, Person]) -> None:
    """Not even that something was asked: notes are the operator's. A changed config is told to everybody."""
    ann, bob = people
    stream = ann.app.opened("GET", "/api/events", Authorization=f"Bearer {bob.token}")
    ann.ask("POST", "/api/tools/call", {"name": "book"})
    config = ann.app.errors.parent / "toolspan.yaml"
    config.write_text(config.read_text() + "# changed\n")
    lines = [stream.readline() for _ in range(2)]
    assert lines[1] == b"event: config_reloaded\n"
    assert "Which day?" not in ann.app.errors.read_text()


def test_streams_that_one_follows_count_for_that_one_alone(people: tuple[Person, Person]) -> None:
    ann, bob = people
    path, most = "/api/events", 50
    opened = [ann.app.opened("GET", path, Authorization=f"Bearer {ann.token}") for _ in range(most + 1)]
    try:
        assert opened[-1].status == 429
        assert json.loads(opened[-1].read())["code"] == "too_many_streams"
        other = bob.app.opened("GET", path, Authorization=f"Bearer {bob.token}")
        assert other.status == 200
        other.close()
    finally:
        for each in opened:
            each.close()


def test_activity_of_one_is_in_no_list_sum_or_stream_of_the_other(people: tuple[Person, Person]) -> None:
    ann, bob = people
    for who, tool in ((ann, "look"), (bob, "remove")):
        body = {"name": tool, "arguments": {"place": "x"}, "approved": True}
        assert who.ask("POST", "/api/tools/call", body).json["success"]
    for who, other in ((ann, "bob"), (bob, "ann")):
        listed = who.ask("GET", "/api/activity?kind=tool").json["activity"]
        assert listed
        assert {who_of(each["principal"]) for each in listed} == {"ann" if other == "bob" else "bob"}
        principal = listed[0]["principal"].replace(f'"{who_of(listed[0]["principal"])}"', f'"{other}"')
        asked = urlencode({"principal": principal})
        assert who.ask("GET", f"/api/activity?{asked}").json["activity"] == []
    tools = [each["name"] for each in bob.ask("GET", "/api/activity/summary").json["tools"]]
    assert tools and not [name for name in tools if name.endswith("look")]
    headers = {"Authorization": f"Bearer {bob.token}", "Last_Event_ID": "0"}
    with bob.app.opened("GET", "/api/activity/events", None, None, **headers) as stream:
        data = next(line for line in iter(stream.readline, b"") if line.startswith(b"data:"))
    assert who_of(json.loads(data[5:])["principal"]) == "bob"


def who_of(principal: str) -> str:
    """The subject of a principal of OAuth."""
    return str(json.loads(principal)[-1])


def test_a_token_of_another_audience_or_of_nobody_opens_nothing(people: tuple[Person, Person]) -> None:
    app = people[0].app
    for token in ("", "x", people[0].token[:-2] + "aa", re.sub(r"\.[^.]*$", ".", people[0].token)):
        assert app.ask("GET", "/api/conversations", Authorization=f"Bearer {token}").status == 401
