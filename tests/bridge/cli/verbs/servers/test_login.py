"""``toolspan servers login``, ``logout`` and ``status``, and what other verbs do without a sign-in."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.support.authority import Authority, Guarded
from tests.support.cli import toolspan, toolspan_process
from tests.support.signing_in import kept
from tests.support.terminal import Terminal

pytestmark = pytest.mark.long

Sites = tuple[Authority, Guarded]
_BROWSER = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1]).read()"


@pytest.fixture
def browser(tmp_path: Path) -> str:
    """A program that opens an address as a browser does, for ``$BROWSER``."""
    path = tmp_path / "browser"
    path.write_text(f"#!{sys.executable}\n{_BROWSER}\n")
    path.chmod(0o755)
    return str(path)


def config(folder: Path, guarded: Guarded) -> Path:
    """A config with the server under the name ``notes``."""
    path = folder / "toolspan.json"
    path.write_text(json.dumps({"mcpServers": {"notes": {"url": f"{guarded.url}/mcp"}}}))
    return path


@pytest.mark.requirement("I12.2.49")
def test_without_a_terminal_nobody_is_signed_in_and_the_command_is_named(
    state: Path, tmp_path: Path, sites: Sites
) -> None:
    authority, guarded = sites
    path = config(tmp_path, guarded)
    ran = toolspan("tools", "list", "--config", str(path), cwd=tmp_path)
    assert ran.code == 3
    assert f"run: toolspan servers login {guarded.url}/mcp" in ran.err
    ran = toolspan("servers", "login", "notes", "--config", str(path), cwd=tmp_path)
    assert (ran.code, "add --yes" in ran.err) == (3, True)
    assert authority.asked == []


@pytest.mark.requirement("I12.2.49", "I12.2.41")
def test_login_status_use_and_logout(state: Path, tmp_path: Path, sites: Sites, browser: str) -> None:
    authority, guarded = sites
    path = config(tmp_path, guarded)
    options = ("--config", str(path))
    before = toolspan("servers", "status", "--json", *options, cwd=tmp_path).json["servers"]
    assert [(row["name"], row["state"]) for row in before] == [("notes", "not signed in")]
    ran = toolspan_process("servers", "login", "notes", "--yes", *options, cwd=tmp_path, BROWSER=browser)
    assert ran.code == 0, ran.err
    assert "2 tools" in ran.err
    assert f"sign-in:  {authority.url}" in ran.err
    assert "scopes:   notes:read" in ran.err
    [access], [renewal] = authority.live, authority.refresh
    assert access not in ran.err + ran.out
    assert renewal not in ran.err + ran.out
    [row] = toolspan("servers", "status", "--json", *options, cwd=tmp_path).json["servers"]
    assert (row["name"], row["issuer"], row["scopes"]) == ("notes", authority.url, ["notes:read"])
    assert row["state"] == "signed in, renewed when needed"
    assert access not in json.dumps(row)
    assert toolspan("tools", "call", "read", *options, cwd=tmp_path).code == 0
    ran = toolspan("servers", "logout", f"{guarded.url}/mcp", *options, cwd=tmp_path)
    assert ran.code == 0
    assert authority.live == {}, "the tokens are revoked"
    assert kept(state) == {}
    assert toolspan("servers", "logout", "notes", *options, cwd=tmp_path).code == 2


@pytest.mark.requirement("I12.2.49")
def test_a_person_at_a_terminal_is_told_and_asked_before_the_browser_opens(
    state: Path, tmp_path: Path, sites: Sites, browser: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, guarded = sites
    monkeypatch.setenv("BROWSER", browser)
    path = config(tmp_path, guarded)
    with Terminal("tools", "list", "--config", str(path), cwd=tmp_path) as terminal:
        shown = terminal.until("sign in? [y/N]")
        assert authority.url in shown
        assert "notes:read" in shown
        assert "/register" not in authority.paths()
        terminal.type("n\r")
        assert terminal.ended() == 3
    with Terminal("tools", "list", "--config", str(path), cwd=tmp_path) as terminal:
        terminal.until("sign in? [y/N]")
        terminal.type("y\r")
        terminal.until("write")
        assert terminal.ended() == 0


@pytest.mark.requirement("I12.2.44")
def test_a_machine_without_a_browser_shows_what_to_open(
    state: Path, tmp_path: Path, sites: Sites, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, guarded = sites
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    ran = toolspan_process("servers", "login", f"{guarded.url}/mcp", "-y", cwd=tmp_path, **os.environ)
    assert ran.code == 0, ran.err
    assert f"open:     {authority.url}/go" in ran.err
    assert "code:     WDJB-MJHT" in ran.err


@pytest.mark.requirement("I12.2.41")
def test_where_there_is_a_keyring_the_file_holds_no_secret(
    state: Path, tmp_path: Path, sites: Sites, browser: str
) -> None:
    authority, guarded = sites
    environment = {
        "BROWSER": browser,
        "PYTHON_KEYRING_BACKEND": "tests.support.file_keyring.FileKeyring",
        "TESTS_KEYRING": str(tmp_path / "keyring.json"),
        "PYTHONPATH": str(Path(__file__).parents[5]),
    }
    arguments = ("servers", "login", f"{guarded.url}/mcp", "--yes", "--json")
    ran = toolspan_process(*arguments, cwd=tmp_path, **environment)
    assert ran.code == 0, ran.err
    assert ran.json["place"] == "keyring"
    [access], [renewal] = authority.live, authority.refresh
    whole = (state / "toolspan" / "sign-ins.json").read_text()
    assert access not in whole
    assert renewal not in whole
    assert access in (tmp_path / "keyring.json").read_text()
    listing = ("tools", "list", "--server", f"{guarded.url}/mcp", "--json")
    assert len(toolspan_process(*listing, cwd=tmp_path, **environment).json["tools"]) == 2
    ran = toolspan_process("servers", "logout", f"{guarded.url}/mcp", cwd=tmp_path, **environment)
    assert ran.code == 0, ran.err
    assert access not in (tmp_path / "keyring.json").read_text()


@pytest.mark.requirement("I12.2.41")
@pytest.mark.parametrize("text", ["", "[]", '{"toolspan_sign_ins": 1, "servers": []}', "{"])
def test_a_file_that_is_none_of_ours_is_left_alone_and_named(
    state: Path, tmp_path: Path, sites: Sites, browser: str, text: str
) -> None:
    _, guarded = sites
    path = state / "toolspan" / "sign-ins.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    ran = toolspan("servers", "login", f"{guarded.url}/mcp", "-y", cwd=tmp_path, BROWSER=browser)
    assert (ran.code, str(path) in ran.err) == (3, True)
    assert path.read_text() == text
