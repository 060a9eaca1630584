"""Two tokens and a virtual key at one app: no id, value or effect of one is another's, by any route there is.

Each plants canaries by every route that writes; then every route is asked as everybody else. The routes are
those of the app itself: a new one fails here until it says in ``ROUTES`` how it is covered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.routing import Route

from tests.support.web_app import Reply, WebApp, web_app
from toolspan_bridge.cli.host import TERMINAL
from toolspan_bridge.sessions.chosen.config import ConfigChoice
from toolspan_bridge.web.activity import Activity
from toolspan_bridge.web.app.application import public_paths
from toolspan_bridge.web.app.found import endpoints, parts
from toolspan_bridge.web.app.state import App
from toolspan_bridge.web.keys import KeyLimits, KeyStore

pytestmark = [pytest.mark.long, pytest.mark.requirement("I24.3.3")]

OPERATOR = "token-of-the-operator-0123456789"
SECRETS = {
    name: f"CANARY-{name}-secret-0123456789" for name in ("inline", "default", "provider", "env", "header")
}
HANDLER = '''
from toolspan_server import handler

@handler("keep")
def keep(arguments, context):
    """Everything that this principal has put here in this conversation, with what is added."""
    for item in filter(None, [arguments.get("add")]):
        context.storage.set(item, True)
    return sorted(context.storage.get_all())

@handler("who")
def who(arguments, context):
    return list(context.caller)
'''
ANSWERS = [
    {
        "to": "keep",
        "turns": [{"calls": [{"tool": "keep", "arguments": {"add": "by-a-model"}}]}, {"text": "Kept."}],
    },
    {"turns": [{"text": "Hello."}]},
]
SUITE = {"scenarios": [{"name": "one", "query": "look", "expect": {"no_calls": True}}]}

OWN, SHARED, OPERATORS, OPEN = "own", "shared", "operator", "open"
GATEWAY = {
    ("POST", "/v1/chat/completions"): OWN,
    ("POST", "/v1/responses"): OWN,
    ("POST", "/v1/messages"): OWN,
    ("POST", "/v1/messages/count_tokens"): SHARED,
    ("GET", "/v1/responses/{response}"): OWN,
    ("DELETE", "/v1/responses/{response}"): OWN,
    ("GET", "/v1/models"): OWN,
    ("GET", "/v1/models/{model:path}"): OWN,
}
"""The routes that are no endpoints of the API, each with whom it is for."""
ROUTES = GATEWAY | {(each.method, each.path): each.audience for each in endpoints()}


@dataclass
class Principal:
    """Somebody with a token, and the ids and values that are theirs alone."""

    app: WebApp
    name: str
    token: str
    model: str
    api: bool = True
    ids: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def canary(self) -> str:
        """A text that only this one has written anywhere."""
        return f"CANARY-of-{self.name}"

    @property
    def marks(self) -> set[str]:
        """What nobody else may ever see."""
        return {self.canary, *self.ids.values()}

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        """The answer to one request."""
        return self.app.ask(method, path, body, None, Authorization=f"Bearer {self.token}", **headers)

    def call(self, tool: str, arguments: Any = None, **more: Any) -> Any:
        """The result of a tool of the config's own server."""
        body = {"name": tool, "arguments": arguments or {}, "approved": True, **more}
        reply = self.ask("POST", "/api/tools/call", body)
        assert reply.status == 200 and reply.json["success"], reply
        return reply.json["result"]

    def gateway(self, text: str, **headers: str) -> Reply:
        """The answer of the scripted model to a question."""
        asked = {"model": self.model, "messages": [{"role": "user", "content": text}]}
        return self.ask("POST", "/v1/chat/completions", asked, **headers)


@dataclass
class World:
    """An app that three principals use, and its operator."""

    app: WebApp
    folder: Path
    ann: Principal
    bob: Principal
    eve: Principal
    operator: Principal

    @property
    def three(self) -> tuple[Principal, ...]:
        """Those who are nobody's operators."""
        return self.ann, self.bob, self.eve


def _config(folder: Path) -> dict[str, Any]:
    tools = [
        {"name": name, "description": f"{name}.", "implementation": {"type": "builtin", "handler": name}}
        for name in ("keep", "who")
    ]
    for each in tools:
        each["parameters"] = {"type": "object", "properties": {"add": {"type": "string"}}}
    source = {"type": "workspace", "workspace": "main", "approval": False}
    tokens = [
        {"name": "ann", "token": "token-of-ann-0123456789"},
        {"name": "bob", "token": "token-of-bob-0123456789"},
        {"name": "other", "token": SECRETS["inline"]},
        {"name": "further", "token": f"${{NOT_SET_ANYWHERE:-{SECRETS['default']}}}"},
    ]
    return {
        "name": "own",
        "handlers": [str(folder / "keep.py")],
        "tools": {"registry": tools, "sources": [source]},
        "services": {"workspaces": {"main": {"path": str(folder / "work")}}},
        "auth": {"tokens": tokens},
        "web": {"requests_per_minute": 1_000_000},
        "providers": {
            "own": {
                "base_url": "http://127.0.0.1:1/v1",
                "api_key": SECRETS["provider"],
                "headers": {"X-Some": SECRETS["header"]},
            }
        },
        "mcpServers": {"gone": {"command": "no-such-command", "env": {"SOME": SECRETS["env"]}}},
    }


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("app")
    (folder / "work").mkdir()
    (folder / "keep.py").write_text(HANDLER)
    (folder / "script.yaml").write_text(json.dumps({"answers": ANSWERS}))
    (folder / "adding.yaml").write_text(json.dumps(SUITE))
    with closing(KeyStore(folder / ".toolspan")) as store:
        key = store.create("eve", KeyLimits(), None)[1]
    with web_app(folder, config=json.dumps(_config(folder)), token=OPERATOR) as app:
        app.token = ""
        model = f"scripted/{folder / 'script.yaml'}"
        made = World(
            app,
            folder,
            Principal(app, "ann", "token-of-ann-0123456789", model),
            Principal(app, "bob", "token-of-bob-0123456789", model),
            Principal(app, "eve", key, model, api=False),
            Principal(app, "operator", OPERATOR, model),
        )
        for who in made.three:
            _plant(who)
        yield made
        assert app.errors.read_text().partition("Traceback")[2] == ""


def _plant(who: Principal) -> None:
    """Leave a canary by every route and tool that writes."""
    reply = who.ask("POST", "/v1/responses", {"model": who.model, "input": who.canary, "store": True})
    assert "id" in reply.json, reply.json
    who.ids["response"] = reply.json["id"]
    assert who.gateway("keep it").status == 200
    message = {"model": who.model, "max_tokens": 50, "messages": [{"role": "user", "content": who.canary}]}
    assert who.ask("POST", "/v1/messages", message).status == 200
    if not who.api:
        return
    who.call("keep", {"add": who.canary})
    who.call("TodoWrite", {"todos": [{"content": who.canary, "status": "pending"}]})
    who.call("Write", {"file_path": f"{who.canary}.txt", "content": f"of {who.name}"})
    talk = {"title": who.canary, "system": who.canary, "model": who.model}
    who.ids["id"] = who.ask("POST", "/api/conversations", talk).json["id"]
    asked = who.ask("POST", f"/api/conversations/{who.ids['id']}/messages", {"text": who.canary})
    assert asked.status == 202, asked
    preset = {"name": who.canary, "instructions": who.canary, "model": who.model}
    who.ids["name"] = who.ask("POST", "/api/presets", preset).json["id"]
    run = {"suites": ["adding"], "models": ["offline/keyword"]}
    who.ids["run"] = who.ask("POST", "/api/validation/runs", run).json["id"]


def _others(world: World) -> Iterator[tuple[Principal, Principal]]:
    """Each reader, with each other one whose things it might see."""
    yield from ((reader, other) for reader in world.three for other in world.three if other is not reader)


def _path(pattern: str, ids: dict[str, str]) -> str:
    """``pattern`` with the ids of somebody in it."""
    run = {**ids, "id": ids["run"]} if "validation/runs" in pattern and "run" in ids else ids
    known = {
        "server": "own",
        "name": "own",
        "model:path": "auto",
        "request": "r",
        "response": "resp_0",
        **run,
    }
    if "/servers/" in pattern or "/tools/" in pattern:
        known |= {"name": "keep" if "/tools/" in pattern else "own"}
    return re.sub(r"\{([\w:]+)\}", lambda found: quote(known.get(found[1], "0" * 32), safe=""), pattern)


def test_every_route_of_the_app_says_whom_it_is_for() -> None:
    app = App(ConfigChoice(()), TERMINAL)
    app.provide(Activity(None))
    is_open = public_paths(page=True)
    found = [route for part in parts() if part.routes is not None for route in part.routes(app)]
    others = {
        (method, route.path)
        for route in found
        if isinstance(route, Route) and not route.path.startswith("/ui") and route.path not in is_open
        for method in route.methods or ()
        if method != "HEAD"
    }
    assert all(isinstance(each, Route) for each in found)
    assert others == set(GATEWAY)


def test_no_route_shows_an_id_or_a_value_of_another(world: World) -> None:
    """Every route that reads, with no id, and with the reader's own ones."""
    for reader, other in _others(world):
        for method, pattern in ROUTES:
            if method != "GET" or pattern.endswith("/events"):
                continue
            reply = reader.ask("GET", _path(pattern, reader.ids))
            seen = {mark for mark in other.marks if mark.encode() in reply.body}
            assert not seen, (reader.name, pattern, reply)
            assert not [each for each in SECRETS.values() if each.encode() in reply.body], (pattern, reply)


def test_ids_of_another_are_answered_as_unknown_ones_and_nothing_happens(world: World) -> None:
    unknown = {"id": "0" * 32, "run": "0" * 32, "name": "0" * 32, "response": "resp_" + "0" * 32}
    bodies = {"/messages": {"text": "x"}, "/answers": {"decision": "deny"}}
    for reader, other in _others(world):
        for (method, pattern), audience in ROUTES.items():
            if audience != OWN or "{" not in pattern or "/servers/" in pattern or "/v1/models" in pattern:
                continue
            if not {"id", "name", "response"} & set(re.findall(r"\{(\w+)\}", pattern)) & set(other.ids):
                continue  # a virtual key has no conversations and presets
            body: Any = next((each for end, each in bodies.items() if end in pattern), {})
            sent = body if method in ("POST", "PATCH", "PUT") else None
            theirs = reader.ask(method, _path(pattern, other.ids), sent)
            nobodys = reader.ask(method, _path(pattern, unknown), sent)
            assert theirs.status == nobodys.status >= 400, (reader.name, method, pattern, theirs)
            assert other.canary.encode() not in theirs.body
            body, blank = theirs.body, nobodys.body
            for name, each in reversed(unknown.items()):
                body = body.replace(other.ids.get(name, each).encode(), b"")
                blank = blank.replace(each.encode(), b"")
            assert body == blank, (method, pattern)
    for who in (world.ann, world.bob):
        shown = who.ask("GET", f"/api/conversations/{who.ids['id']}")
        assert shown.status == 200 and who.canary in shown.json["title"]
        assert who.ask("GET", f"/api/presets/{who.ids['name']}").status == 200
    assert all(each.ask("GET", f"/v1/responses/{each.ids['response']}").status == 200 for each in world.three)


def test_tools_keep_and_change_things_for_whoever_calls_alone(world: World) -> None:
    ann, bob = world.ann, world.bob
    for reader, other in ((ann, bob), (bob, ann)):
        for conversation in ({}, {"conversation": other.ids["id"]}, {"conversation": "default"}):
            assert other.canary not in json.dumps(reader.call("keep", **conversation))
            assert other.canary not in json.dumps(reader.call("Todos", **conversation))
            assert other.canary not in json.dumps(reader.call("Changes", **conversation))
            undone = (
                reader.call(
                    "Undo",
                    {"all": True, "file_path": f"{other.canary}.txt"} if conversation else {"all": True},
                    **conversation,
                )
                if other is ann
                else {}
            )
            assert other.canary not in json.dumps(undone)
    assert (world.folder / "work" / f"{ann.canary}.txt").exists()
    bob.call("TodoWrite", {"todos": []})
    assert ann.canary in json.dumps(ann.call("Todos"))
    assert ann.call("keep") == [ann.canary]
    assert (ann.call("who"), bob.call("who")) == (["token ann", "default"], ["token bob", "default"])


def test_an_idempotency_key_and_a_cached_answer_are_of_one_principal(world: World) -> None:
    for who in (world.ann, world.bob):
        body = {"name": "keep", "arguments": {}}
        replies = [who.ask("POST", "/api/tools/call", body, Idempotency_Key="the-same") for _ in range(2)]
        assert ["idempotent-replayed" in each.headers for each in replies] == [False, True]
        assert replies[0].body == replies[1].body
        assert not [
            each for each in world.three if each is not who and each.canary.encode() in replies[0].body
        ]
    for who in world.three:
        found = [who.gateway("hello", x_toolspan_cache="60").headers["x-toolspan-cache"] for _ in range(2)]
        assert found == ["miss", "hit"], who.name


def test_activity_is_ones_own_and_its_figures_too(world: World) -> None:
    for who in (world.ann, world.bob):
        principals = {
            each["principal"] for each in who.ask("GET", "/api/activity?limit=100").json["activity"]
        }
        assert principals == {f"token {who.name}"}
        for other in ("token ann", "token bob", "key eve"):
            listed = who.ask("GET", f"/api/activity?principal={quote(other)}").json["activity"]
            assert bool(listed) is (other == f"token {who.name}")
    everybody = world.operator.ask("GET", "/api/activity?limit=100").json["activity"]
    assert len({each["principal"] for each in everybody}) >= 3


def test_streams_tell_of_nobody_else(world: World) -> None:
    reader, other = world.bob, world.ann
    talk = f"/api/conversations/{other.ids['id']}/events"
    assert reader.ask("GET", talk).status == 404
    bearer = f"Bearer {reader.token}"
    stream = world.app.opened("GET", "/api/activity/events?last_event_id=1", Authorization=bearer)
    other.call("keep")
    reader.call("who")
    lines: list[bytes] = []
    while b'"tool":"who"' not in (lines[-1] if lines else b"").replace(b" ", b""):
        lines.append(stream.readline())
    assert b"token ann" not in b"".join(lines) and b"token bob" in b"".join(lines)
    feed = world.app.opened("GET", "/api/events?last_event_id=1", Authorization=bearer)
    assert world.operator.ask("POST", "/api/servers/gone/connect").status == 200
    told: list[bytes] = []
    while not (told and told[-1].startswith(b"event: server_changed")):
        told.append(feed.readline())
    told.append(feed.readline())
    assert not [each for each in told if b"CANARY" in each or each.startswith(b"event: note")]


def test_what_is_the_operators_is_refused_to_everybody_else(world: World) -> None:
    for (method, pattern), audience in ROUTES.items():
        if audience != OPERATORS:
            continue
        path = _path(pattern, {})
        for who in (world.ann, world.bob):
            reply = who.ask(method, path, {} if method == "POST" else None)
            assert (reply.status, reply.json["code"]) == (403, "operator_only"), (method, pattern)
        assert world.operator.ask(method, path, {} if method == "POST" else None).status != 403
    for method, pattern in ROUTES:
        if pattern.startswith("/api/"):
            assert world.eve.ask(method, _path(pattern, {}), None if method == "GET" else {}).status in (
                401,
                403,
            )
    shown = world.operator.ask("GET", "/api/config").json["text"]
    assert "no-such-command" in shown
    assert not [each for each in SECRETS.values() if each in shown]
