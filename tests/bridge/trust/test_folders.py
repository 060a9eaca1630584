"""What was allowed in a folder holds for exactly that: any change of what would be run or sent is another."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from toolspan_bridge.errors import StoreError
from toolspan_bridge.toolbox import McpJson, Toolbox, foreign_servers, own_server
from toolspan_bridge.trust.folders import TrustedFolders, Untrusted
from toolspan_server.config import UntrustedItem, find_config, load_config
from toolspan_server.errors import ConfigError, ServeError
from toolspan_server.live.config_files import ConfigFiles

pytestmark = pytest.mark.requirement("I12.1.14")

HANDLER = """
import helper
from pathlib import Path
from toolspan_server import handler

(Path(__file__).parent / "imported").touch()

@handler("theirs")
def theirs(arguments, context):
    return "theirs ran"
"""
CONFIG: dict[str, Any] = {
    "handlers": ["theirs.py"],
    "approvals": {"rules": [{"action": "allow", "tools": ["theirs"], "paths": ["src/**"]}]},
    "mcpServers": {
        "local": {"command": "run/server.sh", "args": ["--key", "${KEY}"], "env": {"A": "b"}},
        "remote": {"url": "https://a.example/mcp", "headers": {"Authorization": "Bearer ${KEY}"}},
    },
    "services": {
        "upstreams": {"up": {"command": "npx", "args": ["one"]}},
        "databases": {"main": {"url": "mysql://me@db.example/x"}},
    },
    "providers": {"mine": {"base_url": "https://llm.example/v1", "key_env": "KEY"}},
    "tools": {
        "sources": [{"type": "openapi", "file": "api.json", "credentials": {"b": {"value_env": "KEY"}}}],
        "registry": [
            {
                "name": "theirs",
                "description": "Theirs.",
                "implementation": {"type": "builtin", "handler": "theirs", "options": {}},
            },
            {"name": "mock", "description": "Mock.", "implementation": {"type": "mock", "mock_response": 1}},
            {
                "name": "send",
                "description": "Sends.",
                "implementation": {"type": "http", "url": "https://b.example/", "headers": {"K": "${KEY}"}},
            },
        ],
    },
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("KEY", "OTHER"):
        monkeypatch.setenv(name, f"value-of-{name}")
    place = tmp_path / "cloned"
    (place / "run").mkdir(parents=True)
    (place / "run" / "server.sh").write_text("true\n")
    (place / "theirs.py").write_text(HANDLER)
    (place / "api.json").write_text("{}")
    (place / "helper.py").write_text("import deeper\n")
    (place / "deeper").mkdir()
    (place / "deeper" / "__init__.py").write_text("")
    write(place, CONFIG)
    return place


@pytest.fixture
def folders(tmp_path: Path) -> TrustedFolders:
    return TrustedFolders(tmp_path / "trust.json")


def write(folder: Path, config: Any) -> None:
    (folder / "toolspan.yaml").write_text(yaml.safe_dump(config))


def items(folder: Path) -> tuple[UntrustedItem, ...]:
    """What the folder's config and .mcp.json would run and send."""
    path = find_config(folder)
    withheld = () if path is None else load_config(path, restricted=True).withheld
    return (*withheld, *foreign_servers(McpJson.read(folder)))


def unknown(folders: TrustedFolders, folder: Path) -> list[Untrusted]:
    return folders.untrusted(folder, items(folder))


def test_it_holds_as_long_as_nothing_changes_also_for_another_process(
    folder: Path, folders: TrustedFolders, tmp_path: Path
) -> None:
    assert len(unknown(folders, folder)) == len(items(folder)) > 5
    folders.trust(folder, items(folder))
    again = TrustedFolders(tmp_path / "trust.json")
    assert unknown(again, folder) == []
    (tmp_path / "link").symlink_to(folder)
    assert again.untrusted(tmp_path / "link", items(folder)) == []
    assert again.untrusted(tmp_path, items(folder)) != []


def edit(change: Callable[[Any], object]) -> Callable[[Path], None]:
    def edited(folder: Path) -> None:
        config = json.loads(json.dumps(CONFIG))
        change(config)
        write(folder, config)

    return edited


def server(name: str, **parts: Any) -> Callable[[Path], None]:
    return edit(lambda config: config["mcpServers"][name].update(parts))


def put(name: str, before: str = "") -> Callable[[Path], None]:
    def written(folder: Path) -> None:
        (folder / name).write_text(f"{before}\nevil = 1\n")

    return written


CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a command": (server("local", command="run/other.sh"), "command"),
    "an argument": (server("local", args=["--key", "${KEY}", "--evil"]), "args"),
    "a variable in an argument": (server("local", args=["--key", "${OTHER}"]), "args"),
    "the value of a variable": (server("local", env={"A": "c"}), "env A"),
    "a further variable": (server("local", env={"A": "b", "B": "c"}), "env B"),
    "a working directory": (server("local", cwd="run"), "cwd"),
    "a program of the folder": (
        put("run/server.sh"),
        "file run/server.sh",
    ),
    "an address": (server("remote", url="https://evil.example/mcp"), "url"),
    "a path of an address": (server("remote", url="https://a.example/evil"), "url"),
    "a variable in a header": (server("remote", headers={"Authorization": "Bearer ${OTHER}"}), "headers"),
    "a handler": (put("theirs.py", HANDLER), "file theirs.py"),
    "a module beside a handler": (
        put("helper.py"),
        "file helper.py",
    ),
    "a module that this imports": (
        put("deeper/__init__.py"),
        "file deeper/__init__.py",
    ),
    "what a tool has a handler do": (
        edit(lambda c: c["tools"]["registry"][0]["implementation"].update(options={"a": 1})),
        "tools",
    ),
    "an upstream": (edit(lambda c: c["services"]["upstreams"]["up"].update(args=["two"])), "args"),
    "a database": (
        edit(lambda c: c["services"]["databases"]["main"].update(url="mysql://me@evil.example/x")),
        "url",
    ),
    "the description of an API": (put("api.json"), "file api.json"),
    "a rule that allows": (
        edit(lambda c: c["approvals"]["rules"][0].update(paths=["**"])),
        "rules",
    ),
    "where a variable goes": (
        edit(lambda c: c["tools"]["registry"][2]["implementation"].update(url="https://evil.example/")),
        "hosts",
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_asked_about_again_and_named(what: str, folder: Path, folders: TrustedFolders) -> None:
    folders.trust(folder, items(folder))
    change, name = CHANGES[what]
    change(folder)
    found = unknown(folders, folder)
    assert found and any(part.startswith(name) for each in found for part in each.changed)
    folders.trust(folder, items(folder))
    assert unknown(folders, folder) == []


def test_a_change_of_what_is_only_served_is_not(folder: Path, folders: TrustedFolders) -> None:
    folders.trust(folder, items(folder))
    config = json.loads(json.dumps(CONFIG))
    config["tools"]["registry"][0]["description"] = "Another."
    write(folder, config)
    assert unknown(folders, folder) == []


def test_a_change_of_what_a_mock_answers_is_asked_about(folder: Path, folders: TrustedFolders) -> None:
    """A pipeline or a hook may hand it on to a tool that acts."""
    folders.trust(folder, items(folder))
    config = json.loads(json.dumps(CONFIG))
    config["tools"]["registry"][1]["implementation"]["mock_response"] = 2
    write(folder, config)
    assert unknown(folders, folder)


def test_what_was_there_before_is_shown_beside_what_is_there_now(
    folder: Path, folders: TrustedFolders
) -> None:
    folders.trust(folder, items(folder))
    server("local", command="run/other.sh")(folder)
    (found,) = [each for each in unknown(folders, folder) if "other.sh" in each.item.what]
    assert len(found.before) == 1 and "run/server.sh" in found.before[0]
    assert "value-of-KEY" not in str(found)


def test_a_server_that_came_back_as_it_was_before_a_change_is_asked_about(
    folder: Path, folders: TrustedFolders
) -> None:
    folders.trust(folder, items(folder))
    server("local", command="run/other.sh")(folder)
    folders.trust(folder, items(folder))
    write(folder, CONFIG)
    assert unknown(folders, folder) != []


def test_mcp_json_is_known_by_what_it_says_before_variables_are_filled_in(
    folder: Path, folders: TrustedFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "toolspan.yaml").unlink()

    def say(variable: str) -> None:
        entry = {"command": "npx", "args": ["x"], "env": {"TOKEN": f"${{{variable}}}"}}
        (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"one": entry}}))

    say("KEY")
    folders.trust(folder, items(folder))
    monkeypatch.setenv("KEY", "another-value")
    assert unknown(folders, folder) == []
    say("OTHER")
    (found,) = unknown(folders, folder)
    assert found.changed == ("env TOKEN",)


def test_no_value_is_kept_and_nobody_else_reads_the_file(
    folder: Path, folders: TrustedFolders, tmp_path: Path
) -> None:
    folders.trust(folder, items(folder))
    path = tmp_path / "trust.json"
    assert "value-of-" not in path.read_text()
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_config_behind_a_link_is_known_by_its_content(
    folder: Path, folders: TrustedFolders, tmp_path: Path
) -> None:
    (folder / "toolspan.yaml").rename(tmp_path / "elsewhere.yaml")
    (folder / "toolspan.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    folders.trust(folder, items(folder))
    assert unknown(folders, folder) == []
    changed = (tmp_path / "elsewhere.yaml").read_text().replace("run/server.sh", "run/other.sh")
    (tmp_path / "elsewhere.yaml").write_text(changed)
    assert unknown(folders, folder) != []


def test_it_is_taken_back_for_one_folder_or_for_all(
    folder: Path, folders: TrustedFolders, tmp_path: Path
) -> None:
    for place in (folder, tmp_path):
        folders.trust(place, items(folder))
    assert [each.folder for each in folders.all()] == [str(tmp_path), str(folder)]
    assert folders.forget(folder) == 1 and folders.forget(folder) == 0
    assert unknown(folders, folder) != []
    assert folders.forget(None) == 1 and folders.all() == []


def test_two_processes_that_are_answered_at_once_lose_nothing(
    folder: Path, folders: TrustedFolders, tmp_path: Path
) -> None:
    other = TrustedFolders(tmp_path / "trust.json")
    found = items(folder)
    first, second = found[:3], found[3:]
    assert folders.untrusted(folder, first) and other.untrusted(folder, second)
    folders.trust(folder, first)
    other.trust(folder, second)
    assert folders.untrusted(folder, [*first, *second]) == []


def test_a_file_of_something_else_is_never_taken_for_trust(
    folder: Path, folders: TrustedFolders, tmp_path: Path
) -> None:
    (tmp_path / "trust.json").write_text("[]")
    with pytest.raises(StoreError, match="folders that you trust"):
        unknown(folders, folder)


@pytest.mark.anyio
@pytest.mark.requirement("I12.1.15")
@pytest.mark.parametrize("file", ["toolspan.yaml", "theirs.py"])
async def test_what_was_looked_at_is_what_is_run(file: str, folder: Path) -> None:
    (folder / "theirs.py").write_text(HANDLER.replace("import helper\n", ""))
    config = {"handlers": ["theirs.py"], "tools": {"registry": CONFIG["tools"]["registry"][:1]}}
    write(folder, config)
    loaded = load_config(folder / "toolspan.yaml", import_handlers=False)
    async with Toolbox.connect([own_server(loaded, pinned=True)]) as toolbox:
        assert [tool.name for tool in toolbox.tools] == ["theirs"]
    (folder / "imported").unlink()
    with (folder / file).open("a") as changed:
        changed.write("\n# another\n")
    async with Toolbox.connect([own_server(loaded, pinned=True)]) as toolbox:
        assert toolbox.tools == ()
        assert "not those that were allowed" in str(toolbox.failures[0])
    assert not (folder / "imported").exists()


@pytest.mark.anyio
@pytest.mark.requirement("I12.1.15")
async def test_a_handler_that_changes_while_it_is_served_is_not_run_by_a_worker(folder: Path) -> None:
    (folder / "theirs.py").write_text(HANDLER.replace("import helper\n", ""))
    write(folder, {"handlers": ["theirs.py"], "tools": {"registry": CONFIG["tools"]["registry"][:1]}})
    loaded = load_config(folder / "toolspan.yaml", import_handlers=False)
    async with Toolbox.connect([own_server(loaded, pinned=True)]) as toolbox:
        (tool,) = toolbox.tools
        (folder / "theirs.py").write_text(HANDLER.replace("theirs ran", "evil ran"))
        outcome = await toolbox.call(tool, {}, "1")
    assert outcome.failed and "not as it was allowed" in outcome.result["error"], outcome.result


@pytest.mark.requirement("I12.1.15")
def test_a_pinned_config_that_runs_nothing_may_change_until_it_does(folder: Path) -> None:
    path = folder / "toolspan.yaml"
    mock = {"tools": {"registry": CONFIG["tools"]["registry"][1:2]}}
    write(folder, mock)
    files = ConfigFiles([path], allowed=False, pinned=load_config(path).fingerprint)
    assert files.load().name == "toolspan"
    write(folder, {**mock, "name": "another"})
    assert files.load().name == "another"
    write(folder, {**mock, "handlers": ["theirs.py"]})
    with pytest.raises(ServeError, match="not those that were allowed"):
        files.load()
    assert not (folder / "imported").exists()


@pytest.mark.requirement("I12.1.15")
def test_a_pinned_config_loads_only_as_it_was(folder: Path) -> None:
    path = folder / "toolspan.yaml"
    write(folder, {"tools": {"registry": CONFIG["tools"]["registry"][1:2]}})
    pin = load_config(path).fingerprint
    assert load_config(path, pinned=pin).fingerprint == pin
    path.write_text(path.read_text() + "\n")
    with pytest.raises(ConfigError, match="not those that were allowed"):
        load_config(path, pinned=pin)
    path.unlink()
    with pytest.raises(ConfigError, match="not those that were allowed"):
        load_config(path, pinned=pin)


@pytest.mark.requirement("I12.1.15")
def test_a_served_config_is_asked_about_once_and_a_later_change_is_refused(folder: Path) -> None:
    write(folder, {"services": CONFIG["services"]})
    asked: list[bool] = []

    def consent(found: object, may_ask: bool) -> bool:
        asked.append(may_ask)
        return may_ask

    files = ConfigFiles([folder / "toolspan.yaml"], allowed=False, consent=consent)
    files.load()
    (folder / "toolspan.yaml").write_text((folder / "toolspan.yaml").read_text() + "\n")
    with pytest.raises(ServeError, match="--trust"):
        files.load()
    assert asked == [True, False]
