"""``toolspan servers discover`` as a person uses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import Ran, toolspan, toolspan_process
from tests.support.terminal import Terminal
from toolspan_server.config import load_config

pytestmark = pytest.mark.requirement("I12.2.70")
SECRET = "hunter2-is-the-token"
CURSOR = {
    "mcpServers": {
        "git": {
            "command": "uvx",
            "args": ["mcp-server-git"],
            "env": {"GIT_TOKEN": SECRET, "LEVEL": "info-level"},
        },
        "web": {"url": "https://mcp.example.com/mcp", "headers": {"Authorization": f"Bearer {SECRET}"}},
    }
}
WINDSURF = {"mcpServers": {"git": {"command": "other-git"}, "bad": {}}}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor/mcp.json").write_text(json.dumps(CURSOR))
    (tmp_path / "work").mkdir()
    return tmp_path


def environment(place: Path) -> dict[str, str]:
    return {"HOME": str(place), "USERPROFILE": str(place), "XDG_CONFIG_HOME": "", "CODEX_HOME": ""}


def discover(place: Path, *arguments: str, **variables: str) -> Ran:
    return toolspan("servers", "discover", *arguments, cwd=place / "work", **environment(place), **variables)


def test_servers_are_listed_with_no_value_of_a_variable(place: Path) -> None:
    shown = discover(place)
    assert shown.code == 0
    assert "uvx mcp-server-git" in shown.out
    assert "Cursor" in shown.out
    listed = discover(place, "--json").json["servers"]
    assert [(each["name"], each["env"], each["headers"]) for each in listed] == [
        ("git", ["GIT_TOKEN", "LEVEL"], []),
        ("web", [], ["Authorization"]),
    ]
    assert not any(text in shown.out + json.dumps(listed) for text in (SECRET, "info-level"))


def test_nothing_is_written_without_being_asked_for(place: Path) -> None:
    discover(place)
    refused = discover(place, "--import", "git")
    assert (refused.code, list((place / "work").iterdir())) == (2, [])
    assert "--yes" in refused.err


@pytest.mark.requirement("I12.2.73")
def test_an_import_writes_variables_for_secrets_and_says_so(place: Path) -> None:
    done = discover(place, "--import", "git", "--import", "web", "--yes")
    config = place / "work/toolspan.yaml"
    assert done.code == 0
    assert "set GIT_TOKEN" in done.err
    assert "set WEB_AUTHORIZATION" in done.err
    assert SECRET not in config.read_text() + done.err + done.out
    loaded = load_config(config, environ={"GIT_TOKEN": "1234", "WEB_AUTHORIZATION": "5678"})
    assert loaded.mcp_servers["git"].env == {"GIT_TOKEN": "1234", "LEVEL": "info-level"}
    assert loaded.mcp_servers["web"].headers == {"Authorization": "Bearer 5678"}
    again = discover(place, "--import", "git", "--yes", "--json")
    assert (again.code, again.json["written"]["servers"]) == (0, ["git"])


def test_a_variable_of_the_environment_with_another_value_is_not_taken_for_the_secret(place: Path) -> None:
    done = discover(place, "--import", "git", "--yes", GIT_TOKEN="of something else")
    assert "${GIT_GIT_TOKEN}" in (place / "work/toolspan.yaml").read_text()
    assert "set GIT_GIT_TOKEN" in done.err


def test_secrets_are_copied_when_that_is_asked_for(place: Path) -> None:
    done = discover(place, "--import", "git", "--yes", "--copy-secrets")
    config = place / "work/toolspan.yaml"
    assert load_config(config).mcp_servers["git"].env["GIT_TOKEN"] == SECRET
    assert SECRET not in done.err
    assert config.stat().st_mode & 0o077 == 0


@pytest.mark.requirement("I12.2.72")
def test_a_server_of_the_same_name_is_replaced_only_when_told(place: Path) -> None:
    config = place / "work/mine.yaml"
    config.write_text("# mine\nmcpServers:\n  git:\n    command: mine # keep\n")
    refused = discover(place, "--import", "git", "--to", "mine.yaml", "--yes")
    assert (refused.code, "--overwrite" in refused.err) == (2, True)
    assert "command: mine" in config.read_text()
    done = discover(place, "--import", "git", "--to", "mine.yaml", "--yes", "--overwrite")
    assert "'git' in mine.yaml is replaced" in done.err
    assert config.read_text().startswith("# mine\nmcpServers:\n  git:\n    command: uvx")


@pytest.mark.requirement("I12.2.71")
def test_a_broken_file_is_named_and_the_exit_code_says_so(place: Path) -> None:
    (place / ".codex").mkdir()
    (place / ".codex/config.toml").write_text("[[[")
    shown = discover(place)
    assert (shown.code, "mcp-server-git" in shown.out) == (2, True)
    assert ".codex/config.toml is left out: not TOML" in shown.err
    assert discover(place, "--json").json["unread"][0]["client"] == "codex"
    assert discover(place, "cursor").code == 0


def test_two_servers_of_one_name_are_told_apart(place: Path) -> None:
    folder = place / ".codeium/windsurf"
    folder.mkdir(parents=True)
    (folder / "mcp_config.json").write_text(json.dumps(WINDSURF))
    which = discover(place, "--import", "git", "--yes")
    assert (which.code, "cursor/git, windsurf/git" in which.err) == (2, True)
    assert "neither a command nor a URL" in discover(place, "--import", "bad", "--yes").err
    assert discover(place, "--import", "none", "--yes").code == 2
    done = discover(place, "--all", "--yes", "--json")
    assert done.json["written"]["servers"] == ["git", "web", "git-windsurf"]
    assert "is called 'git-windsurf'" in done.err


def test_a_server_of_a_project_runs_in_that_project_from_a_config_elsewhere(place: Path) -> None:
    (place / "work/.mcp.json").write_text('{"mcpServers": {"here": {"command": "./it.sh"}}}')
    discover(place, "--import", "here", "--to", "../mine.yaml", "--yes")
    assert load_config(place / "mine.yaml").mcp_servers["here"].cwd == str(place / "work")


def test_a_config_with_its_first_servers_says_that_the_folder_s_file_is_not_read_any_more(
    place: Path,
) -> None:
    (place / "work/.mcp.json").write_text('{"mcpServers": {}}')
    assert ".mcp.json is not read any more" in discover(place, "--import", "web", "--yes").err


@pytest.mark.requirement("I12.2.74")
def test_at_a_terminal_a_person_chooses_and_confirms(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(place).items():
        monkeypatch.setenv(name, value)
    with Terminal("servers", "discover", cwd=place / "work") as terminal:
        terminal.until("Import which?")
        terminal.type("2\n")
        terminal.until("+  web:")
        terminal.until("Write")
        terminal.type("y\n")
        terminal.until("set WEB_AUTHORIZATION")
        assert terminal.ended() == 0
        assert SECRET not in terminal.shown
    assert "https://mcp.example.com/mcp" in (place / "work/toolspan.yaml").read_text()
    with Terminal("servers", "discover", cwd=place / "work") as terminal:
        terminal.until("Import which?")
        terminal.type("\n")
        assert terminal.ended() == 0


def test_escape_sequences_of_a_file_never_reach_the_terminal(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "a\x1b]0;owned\x07\x1b[2J"
    hostile = {"mcpServers": {name: {"command": "it\x1b[31m"}}}
    (place / ".cursor/mcp.json").write_text(json.dumps(hostile))
    for key, value in environment(place).items():
        monkeypatch.setenv(key, value)
    with Terminal("servers", "discover", cwd=place / "work") as terminal:
        terminal.until("Import which?")
        assert "\x1b]0;owned" not in terminal.shown
        assert "\x1b[2J" not in terminal.shown


def test_nothing_is_started(place: Path) -> None:
    mark = place / "started"
    command = {"command": "touch", "args": [str(mark)]}
    (place / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": {"a": command}}))
    done = toolspan_process("servers", "discover", "--all", "--yes", cwd=place / "work", **environment(place))
    assert (done.code, mark.exists()) == (0, False)
