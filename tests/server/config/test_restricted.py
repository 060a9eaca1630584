"""Restricted mode: of a found config that nobody trusts, only what is marked as inert is taken."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from inspect import isabstract
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import toolspan_server
from toolspan_server.config import Config, load_config
from toolspan_server.config.restricted import (
    _LeftOut,  # pyright: ignore[reportPrivateUsage]
    _Walk,  # pyright: ignore[reportPrivateUsage]
)
from toolspan_server.engines.registration import find_handler, handler_traits
from toolspan_server.errors import ConfigError
from toolspan_server.parts.kind import KINDS
from toolspan_server.parts.search_engine import SEARCH_ENGINES
from toolspan_server.parts.service import SERVICES
from toolspan_server.parts.source import SOURCES
from toolspan_server.parts.step import STEPS
from toolspan_server.schema.keys import Inert
from toolspan_server.schema.records import NamedRecords, Record

pytestmark = pytest.mark.requirement("I24.1.1")

CANARY = "value-of-a-secret-variable"
HANDLER = """
from toolspan_server import handler

@handler("theirs_restricted")
def theirs(arguments, context):
    return "theirs ran"
"""


def tool(name: str, **implementation: Any) -> dict[str, Any]:
    return {"name": name, "description": f"The tool {name}.", "implementation": implementation}


HTTP = {"type": "http", "url": "https://api.example.com/{id}"}
ID = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
EVERYTHING: dict[str, Any] = {
    "$schema": "x.json",
    "version": 1,
    "name": "everything",
    "instructions": "Use it.",
    "request_state_key": "k" * 40,
    "state_dir": "elsewhere",
    "handlers": ["theirs.py"],
    "tools": {
        "enabled": True,
        "max_iterations": 900,
        "max_parallel": 64,
        "repair_attempts": 90,
        "default_timeout_ms": 3_000_000,
        "sources": [
            {"type": "openapi", "url": "https://api.example.com/openapi.json"},
            {"type": "openapi", "file": "api.json"},
            {"type": "mcp", "upstream": "up", "approval": "never"},
            {"type": "workspace", "workspace": "here", "approval": False},
        ],
        "registry": [
            {**tool("mock", type="mock", mock_response={"a": [1]}), "tags": ["x"]},
            {
                **tool("asks", type="mock", response="{{ answers.q.action }}"),
                "icons": [{"src": "https://example.com/a.png"}, {"src": "data:image/png;base64,AA"}],
                "approval": {"message": "May I?"},
                "annotations": {"read_only": True},
                "cache": {"ttl_ms": 1000, "max_bytes": 1 << 30},
                "rate_limit": {"calls": 1},
                "examples": [{"arguments": {}}],
                "timeout_ms": 1000,
            },
            tool("samples", type="mock", mock_response=1),
            tool("opens", type="mock", mock_response=1),
            tool(
                "leaks", type="mock", content=[{"type": "image", "file": "link.png", "mimeType": "image/png"}]
            ),
            tool(
                "shows", type="mock", content=[{"type": "image", "file": "own.png", "mimeType": "image/png"}]
            ),
            {**tool("later", type="mock", mock_response=1), "task": {"support": "optional"}},
            tool("echo", type="builtin", handler="echo"),
            tool("search", type="internal", handler="rag_query"),
            tool("theirs", type="builtin", handler="theirs_restricted"),
            tool("shell", type="internal", handler="Bash", options={"workspace": "here"}),
            tool("read", type="internal", handler="Read", options={"workspace": "here"}),
            tool(
                "query",
                type="internal",
                handler="sql_query",
                options={"database": "main", "statement": "SELECT 1"},
            ),
            {**tool("get", **HTTP), "parameters": ID},
            tool("up", type="mcp", upstream="up", tool="x"),
            tool("pipe", type="pipeline", steps=[{"id": "one", "tool": "mock"}]),
        ],
    },
    "services": {
        "workspaces": {
            "here": {
                "path": ".",
                "roots": [{"path": "/", "writable": True}],
                "bash": {"sandbox": "off", "network": True},
                "web_search": {"type": "searxng", "url": "https://search.example.com"},
            }
        },
        "databases": {"main": {"url": "sqlite:///data.db"}},
        "collections": {"docs": {"path": "docs"}, "all": {"path": "/"}, "linked": {"path": "out"}},
        "upstreams": {"up": {"command": "python", "args": ["-m", "server"]}},
    },
    "resources": [
        {"uri": "x:text", "name": "text", "text": "Hello"},
        {"uri": "x:own", "name": "own", "file": "docs/a.md"},
        {"uri": "x:key", "name": "key", "file": "/home/me/.ssh/id_rsa", "outside": True},
        {"uri": "x:link", "name": "link", "file": "link.png"},
        {"uri": "x:all/{path}", "glob": "docs/**"},
        {"uri": "x:etc/{path}", "glob": "/etc/*", "outside": True},
    ],
    "resource_templates": [
        {"uri_template": "y:{id}", "name": "y", "file": "docs/{id}.md"},
        {"uri_template": "z:{id}", "name": "z", "file": "../{id}", "outside": True},
    ],
    "skills": "docs",
    "prompts": [
        {"name": "p", "messages": [{"text": "Say hello."}]},
        {
            "name": "q",
            "arguments": [{"name": "a", "values_from": "../words.txt", "outside": True}],
            "messages": [{"text": "{{ a }}"}],
        },
    ],
    "responses": [
        {"llm": "offline", "model": "keyword", "prompt": "{{user_message}}", "tools": {"enabled": True}},
        {"llm": "scripted", "model": "turns.yaml"},
        {"llm": "scripted", "model": "../turns.yaml"},
        {"llm": "openai", "model": "gpt", "tools": {"allowed_tools": ["builtin:web_search"]}},
        {"model": "best"},
    ],
    "examples": ["What?"],
    "profile": {"city": "Paris"},
    "hooks": [{"point": "before_turn", "python": "theirs.py:hook"}],
    "approvals": {
        "policy": "never",
        "rules": [{"action": "allow", "tools": ["*"]}, {"action": "deny", "paths": ["secrets/**"]}],
    },
    "conversations": {"keep_days": 1, "keep_bytes": 65_536},
    "validation": {"store": "sqlite:////home/me/.bashrc", "threshold": 0.1, "on_unvalidated": "ignore"},
    "activity": {"texts": True},
    "client": {"sampling_models": {"haiku": "openai/gpt"}, "max_samples": 1_000},
    "mcpServers": {"x": {"command": "python", "args": ["-m", "server"]}},
    "aggregate": {"approval": "never"},
    "providers": {"corp": {"base_url": "https://llm.example.com/v1", "key_env": "KEY"}},
    "models": {"best-one": {"deployments": [{"model": "openai/gpt"}]}},
    "toolsets": {"few": {"tools": ["mock"], "auth": {"tokens": [{"name": "a", "token": "t" * 32}]}}},
    "serving": {"error_details": True, "cache": {"ttl_ms": 5, "scope": "public"}},
    "web": {"cache_seconds": 60, "requests_per_minute": 1_000_000, "streams": 10},
    "auth": {"tokens": [{"name": "b", "token": "u" * 32}]},
    "storage": {"url": "sqlite:////home/me/.profile"},
    "limits": {"sessions": 10, "tasks": 1_000_000, "question": {"calls": 5}, "subagents": {"depth": 9}},
}
EVERYTHING["tools"]["registry"][1]["implementation"]["steps"] = [
    {"ask": {"q": {"elicitation": {"message": "Sure?", "requestedSchema": {"type": "object"}}}}},
    {"delay_ms": 1},
]
EVERYTHING["tools"]["registry"][2]["implementation"]["steps"] = [
    {"ask": {"s": {"sampling": {"messages": [{"role": "user", "content": "Hi"}]}}}}
]
EVERYTHING["tools"]["registry"][3]["implementation"]["steps"] = [
    {"ask": {"o": {"elicitation": {"message": "Go there", "url": "https://evil.example.com"}}}}
]


@pytest.fixture(scope="module")
def cloned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that EVERYTHING names, and links out of it."""
    base = tmp_path_factory.mktemp("restricted")
    folder = base / "cloned"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "a.md").write_text("# A\n")
    (folder / "own.png").write_bytes(b"png")
    (base / "private.png").write_bytes(b"secret")
    (folder / "link.png").symlink_to(base / "private.png")
    (folder / "out").symlink_to(base)
    (folder / "theirs.py").write_text(HANDLER)
    (folder / "turns.yaml").write_text("turns: [{text: hi}]\n")
    (base / "words.txt").write_text("a\n")
    (folder / "api.json").write_text(
        json.dumps({"openapi": "3.1.0", "info": {"title": "A", "version": "1"}, "paths": {}})
    )
    return folder


def restricted(folder: Path, document: Any, **environ: str) -> Config:
    (folder / "toolspan.yaml").write_text(yaml.safe_dump(document))
    return load_config(folder / "toolspan.yaml", environ=environ, restricted=True)


def unmarked(value: Any, folder: Path, place: str = "$") -> Iterator[str]:
    """Each place in ``value`` where something takes effect that no mark allows."""
    if isinstance(value, Record):
        mark: Inert | None = getattr(type(value), "inert", None)
        if hasattr(type(value), "inert") and (mark is None or not mark.when(value, folder)):
            yield f"{place}: a {type(value).__module__}"
        if isinstance(value, NamedRecords):
            yield from unmarked(cast("Any", value).root, folder, place)
            return
        for name, key in type(value).model_fields.items():
            part = getattr(value, name)
            if not key.required and type(part) is type(key.initial()) and part == key.initial():
                continue
            if key.inert is None or not key.inert.when(part, folder):
                yield f"{place}.{name}"
            yield from unmarked(part, folder, f"{place}.{name}")
    elif isinstance(value, tuple | list):
        for index, part in enumerate(cast("Any", value)):
            yield from unmarked(part, folder, f"{place}[{index}]")
    elif isinstance(value, dict):
        for name, part in cast("Mapping[str, Any]", value).items():
            yield from unmarked(part, folder, f"{place}.{name}")


def test_what_is_taken_of_a_config_with_everything_is_marked_as_inert(cloned: Path) -> None:
    config = restricted(cloned, EVERYTHING)
    assert list(unmarked(config, cloned)) == []
    kept = [each.name for each in config.tools.registry]
    assert kept == ["mock", "asks", "shows", "later", "echo", "search"]
    assert [each.uri for each in config.resources] == ["x:text", "x:own", "x:all/{path}"]
    assert [each.name for each in config.resource_templates] == ["y"]
    assert list(config.services.entries("collections")) == ["docs"]
    assert [(each.llm, each.model) for each in config.responses] == [
        ("offline", "keyword"),
        ("scripted", "turns.yaml"),
    ]
    assert config.approvals is not None and config.approvals.policy is None
    assert [each.action for each in config.approvals.rules] == ["deny"]
    assert (config.limits.sessions, config.limits.tasks) == (10, 1_000)
    assert config.skills == "docs"
    assert config.prompts[1].arguments[0].values_from is None
    assert [each.src for each in config.tools.registry[1].icons] == ["data:image/png;base64,AA"]


def test_each_thing_that_is_left_out_is_named_with_its_place(cloned: Path) -> None:
    config = restricted(cloned, EVERYTHING)
    places = {item.place for item in config.withheld}
    for key in EVERYTHING:
        whole = {"$schema", "version", "name", "instructions", "skills", "examples", "profile"}
        assert key in whole or any(place.startswith(f"$.{key}") for place in places), key
    names = [each["name"] for each in EVERYTHING["tools"]["registry"]]
    kept = {each.name for each in config.tools.registry}
    for index, name in enumerate(names):
        said = any(place.startswith(f"$.tools.registry[{index}]") for place in places)
        assert said == (name not in kept or name == "asks"), name
    shown = "\n".join(map(str, config.withheld))
    for part in ("'shell' (Bash)", "id_rsa", "openai/gpt", "-m server", "theirs.py", "set storage"):
        assert part in shown, part


def test_every_key_kind_source_and_service_is_in_that_config() -> None:
    """So that the tests above say something of a new one too."""
    spelled = {"mcp_servers": "mcpServers", "schema_": "$schema"}
    assert {spelled.get(name, name) for name in Config.model_fields} == set(EVERYTHING)
    assert {each["implementation"]["type"] for each in EVERYTHING["tools"]["registry"]} == set(KINDS.names)
    assert {each["type"] for each in EVERYTHING["tools"]["sources"]} == set(SOURCES.names)
    assert set(EVERYTHING["services"]) == set(SERVICES.names)


def records() -> list[type[Record]]:
    """Every record of the server: what a config may be made of."""
    for module in pkgutil.walk_packages(toolspan_server.__path__, "toolspan_server."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found: list[type[Record]] = []
    waiting: list[type[Record]] = [Record]
    while waiting:
        for each in waiting.pop().__subclasses__():
            waiting.append(each)
            if each.__module__.startswith("toolspan_server."):
                found.append(each)
    return found


def test_no_key_of_any_record_takes_effect_without_a_mark(tmp_path: Path) -> None:
    walk = _Walk(tmp_path, frozenset())
    checked = 0
    for record in records():
        if isabstract(record):
            continue
        for name, key in record.model_fields.items():
            if key.inert is not None or issubclass(record, NamedRecords):
                continue
            part = record._of({name: object()}, {name})  # pyright: ignore[reportPrivateUsage]
            try:
                kept = getattr(walk.record(part, {}, ()), name)
            except _LeftOut:
                kept = None
            except AttributeError:
                continue  # its own check, or mark, wants the other keys too: the key was left out before
            assert kept is None or kept == key.initial(), f"{record.__module__}.{record.__qualname__}.{name}"
            checked += 1
    assert checked > 200


def test_a_part_without_a_mark_is_left_out_and_those_with_one_are_the_written_list() -> None:
    def marked(parts: Any) -> set[str]:
        return {name for name in parts.names if parts.config(name).inert is not None}

    assert marked(KINDS) == {"mock", "builtin", "internal"}
    assert marked(SERVICES) == {"collections"}
    assert marked(SOURCES) == set() and marked(SEARCH_ENGINES) == set()
    assert {name for name, step in STEPS.own_keys().items() if step.inert is not None} == set()


INERT_HANDLERS = {
    *("echo", "calculator", "math_eval", "rag_query"),
    *("datetime_now", "datetime_parse", "datetime_add", "datetime_difference", "datetime_format"),
    *("string_case", "string_count", "string_slice", "string_replace", "string_regex", "string_split"),
    *("string_join", "string_base64", "string_hash", "string_uuid"),
}


def test_the_handlers_that_may_run_are_the_written_list() -> None:
    from toolspan_server.engines.registration._table import (
        _table,  # pyright: ignore[reportPrivateUsage]
        handler_names,
    )

    handler_names("builtin", wanted="echo")
    ours = [each for each in _table if _table[each].__module__.startswith("toolspan_server.")]
    found = {name for kind, name in ours if handler_traits(kind, name).inert is not None}
    assert len(ours) > 30 and found == INERT_HANDLERS


def test_a_handler_of_others_cannot_say_of_itself_that_it_is_inert(cloned: Path) -> None:
    text = HANDLER.replace(
        '"theirs_restricted")',
        '"boasting", inert=__import__("toolspan_server.schema.keys").schema.keys.PURE)',
    )
    namespace: dict[str, Any] = {"__name__": "boasting_module"}
    exec(compile(text, "boasting.py", "exec"), namespace)  # as a package would register it
    assert find_handler("builtin", "boasting") is not None
    document = {"tools": {"registry": [tool("b", type="builtin", handler="boasting")]}}
    assert restricted(cloned, document).tools.registry == ()


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for name, part in cast("dict[str, Any]", value).items():
            yield from leaves(part, (*path, name))
    elif isinstance(value, list):
        for index, part in enumerate(cast("list[Any]", value)):
            yield from leaves(part, (*path, index))
    else:
        yield path


def always(value: Any) -> Callable[[Any], Any]:
    """A change that makes anything ``value``."""

    def change(_: Any) -> Any:
        return value

    return change


def put(document: Any, path: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    changed = deepcopy(document)
    inside = changed
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = change(inside[path[-1]])
    return changed


TEXTS = [
    path
    for path in leaves(EVERYTHING)
    if path[:1] != ("approvals",)  # rules are compared, and neither shown nor sent
]


@pytest.mark.long
def test_no_variable_of_the_environment_is_in_what_is_taken(cloned: Path) -> None:
    """Neither shown nor sent, wherever a config writes it; a number or a flag is no text."""
    tried = 0
    for path in TEXTS:
        document = put(EVERYTHING, path, always("${CANARY}"))
        try:
            config = restricted(cloned, document, CANARY=CANARY)
        except ConfigError:
            continue
        tried += 1
        assert CANARY not in repr(config.model_dump()), path
        assert list(unmarked(config, cloned)) == []
    assert tried > 40


@pytest.mark.long
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(st.data())
def test_of_no_config_more_is_taken_than_is_marked(cloned: Path, data: st.DataObject) -> None:
    """Any part of the config with everything, with values changed."""
    keys = data.draw(st.sets(st.sampled_from(sorted(EVERYTHING)), min_size=1))
    document: Any = {key: deepcopy(EVERYTHING[key]) for key in keys | {"services", "tools", "handlers"}}
    for path in data.draw(st.lists(st.sampled_from(list(leaves(document))), max_size=3)):
        values = st.one_of(st.booleans(), st.integers(0, 10**6), st.text(max_size=8), st.just("../x"))
        document = put(document, path, always(data.draw(values)))
    try:
        config = restricted(cloned, document)
    except ConfigError:
        return
    assert list(unmarked(config, cloned)) == []
    left_out = {item.place for item in config.withheld}
    assert bool(left_out) == (
        config.model_dump() != load_config(cloned / "toolspan.yaml", import_handlers=False).model_dump()
    )


def test_an_inert_config_is_taken_whole(cloned: Path) -> None:
    document = {
        "name": "mine",
        "tools": {"registry": [EVERYTHING["tools"]["registry"][0], EVERYTHING["tools"]["registry"][7]]},
        "prompts": EVERYTHING["prompts"][:1],
        "resources": EVERYTHING["resources"][:2],
        "approvals": {"policy": "always", "rules": [{"action": "deny", "paths": ["${HOME}/**"]}]},
    }
    config = restricted(cloned, document, HOME="/home/me")
    assert config.withheld == () and config.is_restricted
    assert config == load_config(cloned / "toolspan.yaml", environ={"HOME": "/home/me"})
