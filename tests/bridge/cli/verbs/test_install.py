"""``toolspan install`` as a person uses it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import Ran, toolspan
from tests.support.waiting import BOUND_S
from toolspan_bridge.cli.other_clients.install import CLIENTS

pytestmark = pytest.mark.requirement("I4.3.9")
CONFIG = """
name: my tools
tools:
  registry:
    - {name: greet, description: Greet, implementation: {type: mock, mock_response: "Hello!"}}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    return tmp_path


def install(place: Path, *arguments: str, **environment: str) -> Ran:
    variables = {"HOME": str(place), "USERPROFILE": str(place), "XDG_CONFIG_HOME": "", "CODEX_HOME": ""}
    return toolspan("install", *arguments, cwd=place, **variables, **environment)


@pytest.mark.parametrize("client", CLIENTS)
def test_twice_is_once_and_remove_undoes_it(place: Path, client: str) -> None:
    first = install(place, client, "--yes", "--json")
    assert (first.code, first.json["action"], first.json["backup"]) == (0, "added", None)
    path = Path(first.json["path"])
    written = path.read_text()
    assert str(place / "toolspan.yaml") in written
    second = install(place, client, "--yes", "--json")
    assert (second.code, second.json["action"], path.read_text()) == (0, "unchanged", written)
    removed = install(place, client, "--remove", "--yes", "--json")
    assert (removed.json["action"], "my-tools" in path.read_text()) == ("removed", False)
    assert Path(removed.json["backup"]).read_text() == written
    assert install(place, client, "--remove", "--yes", "--json").json["action"] == "unchanged"


def test_the_change_is_shown_and_nobody_to_ask_means_no(place: Path) -> None:
    shown = install(place, "cursor")
    assert (shown.code, shown.out) == (2, "")
    assert '+    "my-tools": {' in shown.err
    assert "add --yes" in shown.err
    assert not (place / ".cursor").exists()


def test_what_it_writes_starts_a_server(place: Path) -> None:
    install(place, "cursor", "--yes", "--name", "x")
    entry = json.loads((place / ".cursor" / "mcp.json").read_text())["mcpServers"]["x"]
    assert Path(entry["command"]).is_absolute()
    ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        input=ping,
        capture_output=True,
        text=True,
        cwd="/",
        timeout=BOUND_S,
        check=False,
    )
    assert (done.returncode, json.loads(done.stdout)["result"]) == (0, {})


def test_print_touches_nothing(place: Path) -> None:
    printed = install(place, "vscode", "--print")
    assert json.loads(printed.out)["servers"]["my-tools"]["type"] == "stdio"
    assert sorted(path.name for path in place.iterdir()) == ["toolspan.yaml"]


def test_a_link_stays_one_and_the_mode_is_kept(place: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("POSIX modes")
    real = place / "dotfiles.json"
    real.write_text('{"a": 1}')
    real.chmod(0o640)
    (place / ".cursor").mkdir()
    link = place / ".cursor" / "mcp.json"
    link.symlink_to(real)
    assert install(place, "cursor", "--yes").code == 0
    assert link.is_symlink()
    assert json.loads(real.read_text())["a"] == 1
    assert real.stat().st_mode & 0o777 == 0o640
    assert (place / "dotfiles.json.toolspan.bak").read_text() == '{"a": 1}'
    assert not [path for path in place.iterdir() if path.name.startswith(".dotfiles")]


def test_secrets_are_written_only_when_they_are_given(place: Path) -> None:
    config = CONFIG.replace("Hello!", "${SECRET_GREETING}")
    (place / "toolspan.yaml").write_text(config)
    assert install(place, "cursor", "--yes").code == 2
    told = install(place, "cursor", "--yes", "--trust", SECRET_GREETING="s3cret-hello")
    assert (told.code, "give them by --env" in told.err) == (0, True)
    assert "s3cret-hello" not in (place / ".cursor" / "mcp.json").read_text()
    given = install(place, "cursor", "--yes", "--trust", "--env", "SECRET_GREETING=s3cret-hello")
    assert (given.code, "by --env" in given.err) == (0, False)
    entry = json.loads((place / ".cursor" / "mcp.json").read_text())["mcpServers"]["my-tools"]
    assert entry["env"] == {"SECRET_GREETING": "s3cret-hello"}


@pytest.mark.requirement("I9.3.23")
def test_what_was_there_first_stays_in_the_first_backup_however_often_it_is_run(place: Path) -> None:
    path = place / ".cursor" / "mcp.json"
    path.parent.mkdir()
    original = '{"mcpServers": {}, "mine": true}'
    path.write_text(original)
    for number in range(3):
        assert install(place, "cursor", "--yes", "--env", f"A={number}").code == 0
    kept = {each.name: json.loads(each.read_text()) for each in path.parent.glob("*.bak*")}
    assert sorted(kept) == [f"mcp.json.toolspan.bak{end}" for end in ("", ".1", ".2")]
    assert path.with_name("mcp.json.toolspan.bak").read_text() == original
    assert kept["mcp.json.toolspan.bak.2"]["mcpServers"]["my-tools"]["env"] == {"A": "1"}
    path.write_text(original)
    assert install(place, "cursor", "--yes").code == 0
    assert len(list(path.parent.glob("*.bak*"))) == 3


@pytest.mark.requirement("I9.3.23")
@pytest.mark.parametrize("client", ["cursor", "codex"])
def test_what_is_shown_holds_no_value_of_a_variable(client: str, place: Path) -> None:
    secret = 'sk-"quoted"-é-value'
    given = install(place, client, "--yes", "--env", f"KEY={secret}", "--env", "SHORT=abc")
    changed = install(place, client, "--yes", "--env", "KEY=another-value")
    removed = install(place, client, "--remove", "--yes")
    for ran in (given, changed, removed):
        assert ran.code == 0 and "***" in ran.err and "KEY" in ran.err
        for part in ("quoted", "another-value", '"abc"'):
            assert part not in ran.out + ran.err
    assert "another-value" in install(place, client, "--print", "--env", "KEY=another-value").out


def test_a_url_instead_of_a_command(place: Path) -> None:
    url = "https://tools.example.com/mcp"
    done = install(place, "windsurf", "--url", url, "--header", "Authorization=Bearer x", "--yes", "--json")
    entry = json.loads(Path(done.json["path"]).read_text())["mcpServers"]["toolspan"]
    assert entry == {"serverUrl": url, "headers": {"Authorization": "Bearer x"}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["notepad"], "notepad"),
        (["cursor", "--url", "file:///x"], "not an http or https URL"),
        (["cursor", "--url", "https://x.example", "--env", "A=b"], "leave --config and --env out"),
        (["cursor", "--header", "A=b"], "--header goes with --url"),
        (["cursor", "--env", "A"], "KEY=VALUE"),
        (["cursor", "--name", "a b"], "--name 'a b'"),
        (["windsurf", "--scope", "project"], "no config of a project"),
        (["claude-desktop", "--url", "https://x.example"], "Connectors"),
        (["cursor", "--config", "missing.yaml"], "missing.yaml"),
    ],
)
def test_wrong_usage_is_2_and_changes_nothing(place: Path, arguments: list[str], message: str) -> None:
    before = sorted(place.rglob("*"))
    done = install(place, *arguments, "--yes", "--json")
    assert (done.code, message in done.error["message"]) == (2, True), done.err
    assert sorted(place.rglob("*")) == before


def test_a_file_that_cannot_be_written_is_said(place: Path) -> None:
    (place / ".cursor").write_text("in the way")
    done = install(place, "cursor", "--yes", "--json")
    assert (done.code, "cannot be" in done.error["message"]) == (2, True), done.err
    assert (place / ".cursor").read_text() == "in the way"


@pytest.mark.requirement("I13.1.4")
@pytest.mark.parametrize(
    ("entry", "named"),
    [
        ({"command": "npx", "args": ["-y", "someones-server"]}, "npx -y someones-server"),
        ({"url": "https://example.com/mcp"}, "https://example.com/mcp"),
        ({"command": "/opt/toolspan-server", "args": ["--config", "/other.yaml"]}, "--config /other.yaml"),
    ],
)
def test_another_server_of_the_same_name_is_named_before_it_is_replaced(
    place: Path, entry: dict[str, object], named: str
) -> None:
    path = place / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"mcpServers": {"my-tools": entry}}))
    for more in ([], ["--json"]):
        path.write_text(json.dumps({"mcpServers": {"my-tools": entry}}))
        done = install(place, "cursor", "--yes", *more)
        assert done.code == 0
        assert f"warning: {path} has another server by that name" in done.err
        assert named in done.err and "--name" in done.err
    assert "warning" not in install(place, "cursor", "--yes", "--env", "A=1").err
    assert "warning" not in install(place, "cursor", "--remove", "--yes").err
