"""Servers written into configs: nothing else of the file is changed, and what is written is read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolspan_bridge.cli.other_clients.discovery import configured_servers, planned_import
from toolspan_bridge.errors import UsageError
from toolspan_server.config import load_config

pytestmark = pytest.mark.requirement("I12.2.72")
ENTRY: dict[str, Any] = {
    "command": "npx",
    "args": ["-y", "@scope/server", "yes"],
    "env": {"KEY": "${MY_KEY}"},
}
TEXTS: list[tuple[str, str]] = [
    ("toolspan.yaml", ""),
    ("toolspan.yaml", "# only a comment\n"),
    ("toolspan.yaml", "name: mine  # a name"),
    ("toolspan.yaml", "version: 1\nmcpServers:\n# none yet\n\ntools: {registry: []}\n"),
    ("toolspan.yaml", "mcpServers: {}\nname: x\n"),
    ("toolspan.yaml", "mcpServers: {old: {command: a, args: [b,],},  # kept\n}\nname: x\n"),
    (
        "toolspan.yaml",
        "mcpServers:\n    # the first\n    old:\n        command: a  # why\n        args:\n        - b\n\n"
        "# what follows\nname: x\n",
    ),
    ("toolspan.yaml", "mcpServers:\n  old:\n    command: |-\n      a\n    # end\nname: x\n"),
    ("toolspan.yaml", "name: x\r\nmcpServers:\r\n  old:\r\n    command: a # c\r\n"),
    ("toolspan.yaml", "mcp_servers:\n  old: {command: a}"),
    ("toolspan.yml", "servers:\n  old: {url: 'http://x.example/'} # last\n"),
    ("toolspan.json", ""),
    ("toolspan.json", '{"name": "x"}'),
    ("toolspan.json", '{\n\t"mcpServers": {\n\t\t"old": {"command": "a"}\n\t},\n\t"name": "x"\n}\n'),
    ("config", '{"servers": {}}'),
]


@pytest.mark.parametrize(("name", "text"), TEXTS, ids=range(len(TEXTS)))
def test_a_server_is_added_and_nothing_else_is_changed(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode())
    before = None if text in ("", "# only a comment\n") or ":\n#" in text else load_config(path)
    after = planned_import(path, {"new": ENTRY, "two": {"url": "https://x.example/mcp"}}).after
    kept = [line for line in text.splitlines() if line.strip() not in ("", "mcpServers: {}")]
    if "{old" not in text and not name.endswith("json") and name != "config":
        assert [line for line in kept if line not in after.splitlines()] == []
    path.write_bytes(after.encode())
    config = load_config(path, environ={"MY_KEY": "value"})
    old = {} if before is None else dict(before.mcp_servers)
    assert list(config.mcp_servers) == [*old, "new", "two"]
    new = config.mcp_servers["new"]
    assert (new.command, new.args, new.env) == ("npx", ("-y", "@scope/server", "yes"), {"KEY": "value"})
    assert before is None or config.name == before.name
    assert ("\r\n" in text) == ("\r\n" in after)
    assert "\n" not in after.replace("\r\n", "") or "\r\n" not in text


@pytest.mark.parametrize(("name", "text"), TEXTS, ids=range(len(TEXTS)))
def test_written_twice_is_written_once_and_another_takes_its_place(
    tmp_path: Path, name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode())
    path.write_bytes(planned_import(path, {"new": ENTRY}).after.encode())
    assert planned_import(path, {"new": ENTRY}).action in ("changed", "unchanged")
    assert planned_import(path, {"new": ENTRY}).after == path.read_bytes().decode()
    others = {key: value for key, value in configured_servers(path).items() if key != "new"}
    path.write_bytes(planned_import(path, {"new": {"command": "other"}}).after.encode())
    assert configured_servers(path) == {**others, "new": {"command": "other"}}


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("toolspan.yaml", "name: [\n", "broken YAML"),
        ("toolspan.yaml", "- a\n", "no object"),
        ("toolspan.yaml", "mcpServers: [a]\n", "no object"),
        ("toolspan.yaml", "{name: x}\n", "cannot be edited|one line of JSON"),
        ("toolspan.yaml", "name: x\n---\nname: y\n", "second YAML document"),
        ("toolspan.json", '{"name": ', "toolspan.json:1"),
        ("toolspan.yaml", "name: x\n...\n", "edited safely|broken YAML"),
    ],
)
def test_a_file_that_cannot_be_edited_is_left_as_it_is(
    tmp_path: Path, name: str, text: str, says: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(UsageError, match=says):
        planned_import(path, {"new": ENTRY})
    assert path.read_text() == text


def test_the_difference_shows_no_value_of_a_variable_or_a_header(tmp_path: Path) -> None:
    path = tmp_path / "toolspan.yaml"
    path.write_text("mcpServers:\n  old:\n    command: a\n    env: {OLD_KEY: hunter2-old}\n")
    headers = {"Authorization": "Bearer hunter2-new"}
    shown = planned_import(path, {"new": {"url": "https://x.example/", "headers": headers}}).diff()
    assert "+  new:" in shown
    assert "hunter2" not in shown
