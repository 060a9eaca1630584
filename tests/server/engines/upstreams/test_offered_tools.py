"""Which tools of an upstream are offered, and as what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.configs import told
from tests.support.upstreams import config, raw, served, talker, until
from toolspan_server.calls.caller import LOCAL
from toolspan_server.config import ToolConfig
from toolspan_server.live.runtime import Runtime

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.4", "I4.4.1")]

OLD = {"talker": talker("old")}


def tool(runtime: Runtime, name: str) -> ToolConfig:
    found = runtime.registry.get(name)
    assert found is not None, [each.name for each in runtime.registry]
    return found.config


async def test_every_tool_is_offered_with_what_the_upstream_says_of_it(tmp_path: Path) -> None:
    async with served(tmp_path, OLD) as runtime:
        search = tool(runtime, "search")
        assert (search.title, search.description) == ("Search", "The tool search.")
        assert search.annotations is not None and search.annotations.read_only
        assert [icon.src for icon in search.icons] == ["https://example.com/i.png"]
        assert search.output_schema is not None
        assert search.parameters["required"] == ["query", "owner"]
        assert "$schema" not in search.parameters
        assert tool(runtime, "odd_name_1").implementation.model_dump()["tool"] == "odd name/1"


async def test_tools_are_chosen_by_globs_and_prefixed(tmp_path: Path) -> None:
    chosen = {"upstream": "talker", "include": ["s*", "h*"], "exclude": ["sam*", "shrink"], "prefix": "t_"}
    async with served(tmp_path, OLD, chosen) as runtime:
        assert {each.name for each in runtime.registry} == {"t_search", "t_hang"}


async def test_a_tool_is_renamed_redescribed_and_its_arguments_pinned_and_hidden(tmp_path: Path) -> None:
    override = {
        "name": "find",
        "title": "Find",
        "description": "Finds issues of ours.",
        "pin": {"owner": "us"},
        "hide": ["limit"],
        "parameters": {"query": {"description": "Words.", "maxLength": 10}},
        "timeout_ms": 5000,
    }
    source = {"upstream": "talker", "include": ["search"], "tools": {"search": override}}
    async with served(tmp_path, OLD, source) as runtime:
        find = tool(runtime, "find")
        assert (find.title, find.description, find.timeout_ms) == ("Find", "Finds issues of ours.", 5000)
        query = {"type": "string", "description": "Words.", "maxLength": 10}
        assert find.parameters == {"type": "object", "properties": {"query": query}, "required": ["query"]}
        sent = await runtime.execute("find", {"query": "x", "owner": "them", "limit": 99}, LOCAL)
        assert sent.result == {"found": {"query": "x", "owner": "us"}}
        long = await runtime.execute("find", {"query": "x" * 11}, LOCAL)
        assert long.error_code == "invalid_parameters"


async def test_a_hidden_argument_that_the_upstream_needs_has_to_be_pinned(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    changes = {"search": {"hide": ["owner"], "pin": {"ownr": 1}}, "serch": {}}
    async with served(tmp_path, OLD, {"upstream": "talker", "tools": changes}) as runtime:
        assert runtime.registry.get("search") is None
        assert runtime.registry.get("hang") is not None
    assert "'owner' is hidden, but required and without default (pin it)" in caplog.text
    assert "pin.ownr: it has no such argument (did you mean 'owner'?)" in caplog.text
    assert "tools.serch: the upstream has no such tool (did you mean 'search'?)" in caplog.text


async def test_a_single_tool_of_the_registry_pins_its_arguments(tmp_path: Path) -> None:
    implementation = {"type": "mcp", "upstream": "talker", "tool": "search", "pin": {"owner": "us"}}
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "additionalProperties": True}
    single = {"name": "find", "description": "Finds.", "parameters": schema, "implementation": implementation}
    source = {"upstream": "talker", "include": ["nothing"]}
    async with served(tmp_path, OLD, source, registry=[single]) as runtime:
        assert [each.name for each in runtime.registry] == ["find"]
        sent = await runtime.execute("find", {"query": "x", "owner": "them"}, LOCAL)
        assert sent.result == {"found": {"query": "x", "owner": "us"}}


@pytest.mark.parametrize("era", ["old", "new"])
async def test_changed_tools_are_offered_anew(tmp_path: Path, era: str) -> None:
    async with served(tmp_path, {"talker": talker(era)}) as runtime:
        heard: list[Any] = []
        runtime.changes.subscribe(heard.append)
        assert (await runtime.execute("grow", None, LOCAL)).success
        await until(lambda: runtime.registry.get("grown_0"))
        assert [change.of for change in heard] == ["tools"]


@pytest.mark.long
async def test_a_hostile_schema_costs_only_its_own_tool(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(tmp_path, {"talker": talker("old", "schemas")}) as runtime:
        assert {each.name for each in runtime.registry} == {"sound", "bad_output", "good"}
        assert tool(runtime, "bad_output").output_schema is None
        assert runtime.health()["sources"][0]["left_out"] == 7
    assert "'http://169.254.169.254/schema' is not in this schema" in caplog.text
    assert "tool 'slow' left out: its inputSchema cannot be used: it takes longer than 1 s" in caplog.text
    assert "tool 'costly' left out: its inputSchema cannot be used: it takes too long" in caplog.text
    assert "tool 'large' left out: its inputSchema cannot be used: it is larger than" in caplog.text


async def test_malformed_double_and_too_many_tools_leave_the_rest(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    upstreams = {
        "malformed": raw("malformed_tools"),
        "many": raw("many_tools", max_tools=5),
        "endless": raw("endless_pages", max_pages=3),
        "wordy": raw("long_description"),
    }
    sources = [{"upstream": name, "prefix": f"{name}."} for name in upstreams]
    async with served(tmp_path, upstreams, *sources) as runtime:
        names = [each.name for each in runtime.registry]
        assert names[:3] == ["malformed.first", "malformed.last", "malformed.shaky"]
        assert [sum(name.startswith(start) for name in names) for start in ("many.", "endless.")] == [5, 3]
        assert len(tool(runtime, "wordy.wordy").description.encode()) < 4_110
    assert "more than 5 tools" in caplog.text and "more than 3 pages" in caplog.text


@pytest.mark.requirement("I26.2.1")
@pytest.mark.parametrize(
    ("mood", "names"),
    [("empty_cursor", ["one", "two"]), ("empty_cursor_at_end", ["one", "two"]), ("null_tools", [])],
)
async def test_an_empty_cursor_is_one_and_no_tools_are_an_empty_list(
    tmp_path: Path, mood: str, names: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with served(tmp_path, {"raw": raw(mood)}) as runtime:
        assert [each.name for each in runtime.registry] == names
    assert "raw" not in caplog.text


@pytest.mark.parametrize(
    ("tools", "problem"),
    [
        (
            {"sources": [{"type": "mcp", "upstream": "gihub"}]},
            "unknown upstream 'gihub' (did you mean 'github'?)",
        ),
        (
            {
                "sources": [
                    {"type": "mcp", "upstream": "github", "tools": {"x": {"pin": {"a": 1}, "hide": ["a"]}}}
                ]
            },
            "tools.x.hide: 'a' is pinned too (keep one of them)",
        ),
        ({"sources": [{"type": "mcp", "upstream": "github", "inclde": []}]}, "unknown key 'inclde'"),
    ],
)
async def test_what_is_wrong_with_a_source_is_said_at_load(
    tmp_path: Path, tools: dict[str, Any], problem: str
) -> None:
    path = config(tmp_path, {"github": raw()}, **tools)
    (line,) = told(tmp_path, path.read_text(), name="toolspan.json")
    assert problem in line


async def test_what_is_wrong_with_a_single_tool_is_said_at_load(tmp_path: Path) -> None:
    implementation = {"type": "mcp", "upstream": "nowhere", "tool": "search", "pin": {"owner": "us"}}
    schema = {"type": "object", "properties": {"owner": {"type": "string"}}}
    single = {"name": "find", "description": "Finds.", "parameters": schema, "implementation": implementation}
    path = config(tmp_path, {"github": raw()}, registry=[single])
    lines = "\n".join(told(tmp_path, path.read_text(), name="toolspan.json"))
    assert "implementation.upstream: unknown upstream 'nowhere'" in lines
    assert "'owner' is pinned, but among the parameters" in lines
