"""``toolspan doctor``: what is so, and what to do, check by check."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Ran, toolspan
from toolspan_bridge.cli.doctor.checks import ports
from toolspan_bridge.cli.doctor.run import check_names

pytestmark = [pytest.mark.long, pytest.mark.requirement("I13.1.15")]
MOCK = {"name": "greet", "description": "Greet", "implementation": {"type": "mock", "mock_response": "Hi"}}
KEY = "sk-planted-0123456789abcdef"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder, a user who has set nothing, and a port that is ours alone."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user-config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user-state"))
    monkeypatch.delenv("TOOLSPAN_MODEL", raising=False)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setattr(ports, "PORT", free.getsockname()[1])
    (tmp_path / "work").mkdir()
    yield tmp_path / "work"


def doctor(
    place: Path, config: Any = None, *arguments: str, **environment: str
) -> tuple[Ran, dict[str, list[Any]]]:
    if config is not None:
        (place / "toolspan.yaml").write_text(config if isinstance(config, str) else json.dumps(config))
    ran = toolspan("doctor", "--json", *arguments, cwd=place, **environment)
    return ran, ran.json["checks"]


def levels(findings: list[Any]) -> list[str]:
    return [each["level"] for each in findings]


def test_where_all_is_well_each_check_says_so_and_the_exit_code_is_0(place: Path) -> None:
    ran, checks = doctor(
        place, {"tools": {"registry": [MOCK]}}, OPENAI_API_KEY=KEY, TOOLSPAN_MODEL="offline/keyword"
    )
    assert (ran.code, ran.json["ok"], list(checks)) == (0, True, check_names())
    assert [levels(checks[name]) for name in ("versions", "config", "ports")] == [["ok"]] * 3
    assert checks["own_tools"][0]["text"] == "its server starts, with 1 tool"
    assert checks["keys"] == [{"level": "ok", "text": "a key is set for openai", "todo": ""}]
    assert levels(checks["sandbox"]) in (["ok"], ["warning"])
    assert levels(checks["state_folder"]) == ["ok", "ok"]
    assert KEY not in ran.out + ran.err


def test_people_read_a_line_each_with_what_to_do_under_it(place: Path) -> None:
    ran = toolspan("doctor", cwd=place)
    assert ran.code == 0
    assert "✓ versions: Toolspan " in ran.out
    assert (
        "! config: there is no config in this folder\n  → name one with --config, or: toolspan init"
        in ran.out
    )


def test_each_fault_of_a_config_is_a_problem_with_its_place(place: Path) -> None:
    ran, checks = doctor(place, "tools: {registri: []}\nnam: x\n")
    assert ran.code == 2
    assert levels(checks["config"]) == ["problem", "problem"]
    assert "toolspan.yaml:1:9: $.tools.registri" in checks["config"][0]["text"] + checks["config"][1]["text"]


def test_sources_and_servers_that_fail_are_problems_with_their_own_words(place: Path) -> None:
    config = {
        "tools": {"sources": [{"type": "openapi", "file": "missing.yaml"}]},
        "mcpServers": {
            "gone": {"command": "no-such-program-here"},
            "broken": {"command": sys.executable, "args": ["-c", "import sys; sys.exit('no luck')"]},
        },
    }
    ran, checks = doctor(place, config, "--trust")
    assert ran.code == 4
    assert checks["own_tools"][0]["text"] == "source missing.yaml: there is no such file"
    texts = [each["text"] for each in checks["servers"] if each["level"] == "problem"]
    assert "server 'gone': the program no-such-program-here is not on PATH" in texts
    assert any("no luck" in text for text in texts)


def test_nothing_is_run_that_nobody_allowed(place: Path) -> None:
    touch = ["-c", "open('ran', 'w')"]
    config = {"handlers": ["theirs.py"], "mcpServers": {"theirs": {"command": sys.executable, "args": touch}}}
    (place / "theirs.py").write_text("open('ran', 'w')")
    ran, checks = doctor(place, {**config, "tools": {"registry": [MOCK]}})
    assert ran.code == 0
    assert not (place / "ran").exists()
    withheld = ("warning", "add --trust")
    found = {
        name: [(each["level"], each["todo"]) for each in checks[name]] for name in ("own_tools", "servers")
    }
    assert found == {"own_tools": [withheld, ("ok", "")], "servers": [withheld]}
    assert checks["own_tools"][1]["text"] == "its server starts, with 1 tool"


def test_a_missing_node_is_named_as_what_to_install(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(place))
    config = {"mcpServers": {"files": {"command": "npx", "args": ["-y", "server"]}}}
    _, checks = doctor(place, config, "--trust")
    assert checks["servers"][0]["todo"] == "install Node.js (https://nodejs.org)"


def test_keys_models_and_ports_that_are_not_there(place: Path) -> None:
    own = {"base_url": "http://127.0.0.1:1/v1", "format": "openai", "key_env": "HOUSE_API_KEY"}
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", ports.PORT))
        taken.listen()
        ran, checks = doctor(place, {"providers": {"house": own}}, "--trust", TOOLSPAN_MODEL="house/x")
    assert ran.code == 3
    assert "HOUSE_API_KEY is not set" in checks["keys"][0]["text"]
    assert "the default model house/x ($TOOLSPAN_MODEL) cannot answer" in checks["models"][0]["text"]
    assert levels(checks["ports"]) == ["warning"]
    _, unknown = doctor(place, None, TOOLSPAN_MODEL="hose/x")
    assert (levels(unknown["models"]), "hose" in unknown["models"][0]["text"]) == (["problem"], True)


def test_a_state_folder_that_others_can_write_is_a_problem(place: Path) -> None:
    state = place / "state"
    state.mkdir()
    state.chmod(0o777)
    ran, checks = doctor(place, {"state_dir": "state", "tools": {"registry": [MOCK]}}, "--trust")
    assert ran.code == 1
    assert checks["state_folder"][1]["text"].endswith("can be written by others")
    assert "chmod go-w" in checks["state_folder"][1]["todo"]


@pytest.mark.parametrize("kind", ["unmarked", "file"])
def test_a_state_folder_that_is_not_used_is_named_with_the_way_out(place: Path, kind: str) -> None:
    state = place / ".toolspan"
    if kind == "file":
        state.write_text("in the way")
    else:
        state.mkdir()
        (state / "planted").write_text("theirs")
    ran, checks = doctor(place, {"tools": {"registry": [MOCK]}})
    _, elsewhere, unused = checks["state_folder"]
    assert (ran.code, levels([elsewhere, unused])) == (0, ["ok", "warning"])
    assert f"{state} is not used: it " in unused["text"]
    assert elsewhere["text"].split()[0] in unused["text"]
    assert ("toolspan trust state" in unused["todo"]) == (kind == "unmarked")
