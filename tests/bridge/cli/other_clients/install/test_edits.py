"""Editing one entry of a client's file: everything else of it stays as it is."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_bridge.cli.other_clients.install import _json, _toml
from toolspan_bridge.cli.other_clients.install._jsonc import InvalidJson, parsed

pytestmark = pytest.mark.requirement("I4.3.9")
PLACE = ("mcpServers", "mine")
ENTRY: dict[str, Any] = {"command": "/bin/x", "args": ["--config", "/a b/c.yaml"]}
ZED = """// settings
{
    "theme": "One", // the only one
    "mcpServers": {
        /* kept */
        "other": { "command": "y", "args": ["a",], }, // other's
    },
    "tabs": [1, 2,],
}
"""


def test_what_a_person_wrote_stays_comments_commas_and_layout() -> None:
    changed = _json.with_entry(ZED, PLACE, ENTRY)
    assert [line for line in ZED.splitlines() if line not in changed.splitlines()] == []
    assert _json.load(changed)["mcpServers"]["mine"] == ENTRY
    assert '\n        "mine": {\n            "command"' in changed
    assert _json.without_entry(changed, PLACE) == ZED


def test_comments_beside_the_entry_stay_when_it_goes() -> None:
    for text in (
        '{"mcpServers": {"a": 1, // of a\n "mine": {}, // of mine\n // of b\n "b": 2}}',
        '{"mcpServers": {"mine": {}, // of mine\n // of b\n "b": 2}}',
        '{"mcpServers": {"a": 1, // of a\n "mine": {}\n}}',
        '{"mcpServers": {"a": 1, // of a\n "mine": {},\n}}',
        '{"mcpServers": { /* first */ "mine": {} }}',
    ):
        left = _json.without_entry(text, PLACE)
        assert "mine" not in _json.load(left)["mcpServers"]
        for comment in ("// of a\n", "// of b\n", "/* first */"):
            assert (comment in left) == (comment in text)


def test_windows_line_ends_stay() -> None:
    text = '{\r\n\t"a": 1\r\n}\r\n'
    changed = _json.with_entry(text, PLACE, ENTRY)
    assert "\n" not in changed.replace("\r\n", "")
    assert '\r\n\t"mcpServers": {\r\n\t\t"mine"' in changed


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"a" 1}',
        '{"a": }',
        "{a: 1}",
        '{"a": 1} x',
        '{"a": tru}',
        '{"a": 01}',
        '{"a": "x\ny"}',
        "/* open",
        "[" * 200,
        '{"a": 1 "b": 2}',
        '{"a": "\\x"}',
    ],
)
def test_a_broken_text_is_not_touched(text: str) -> None:
    with pytest.raises(InvalidJson) as caught:
        _json.with_entry(text, PLACE, ENTRY)
    assert 0 <= caught.value.offset <= len(text)


@pytest.mark.parametrize("text", ["[]", '"x"', '{"mcpServers": []}', '{"mcpServers": null}'])
def test_a_text_of_another_shape_is_not_touched(text: str) -> None:
    with pytest.raises(_json.UnsupportedShape):
        _json.with_entry(text, PLACE, ENTRY)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=6), inside, max_size=3),
    max_leaves=12,
)


@given(
    data=st.dictionaries(st.text(max_size=6), VALUES, max_size=4),
    servers=st.none() | st.dictionaries(st.sampled_from(["a", "mine", "b"]), VALUES, max_size=3),
    indent=st.sampled_from([None, 2, 4, "\t"]),
)
def test_any_json_keeps_its_data_and_gets_the_entry(
    data: dict[str, Any], servers: dict[str, Any] | None, indent: Any
) -> None:
    whole = data if servers is None else {**data, "mcpServers": servers}
    if not isinstance(whole.get("mcpServers", {}), dict):
        return
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    assert parsed(text).data == whole
    changed = _json.with_entry(text, PLACE, ENTRY)
    expected = {**whole, "mcpServers": {**whole.get("mcpServers", {}), "mine": ENTRY}}
    assert json.loads(changed) == expected
    assert _json.with_entry(changed, PLACE, ENTRY) == changed
    del expected["mcpServers"]["mine"]
    assert json.loads(_json.without_entry(changed, PLACE)) == expected


CODEX = """# mine
model = "x"

[mcp_servers.other] # keep
command = "y"

[mcp_servers.other.env]
A = "[mcp_servers.mine]"

# about profiles
[profiles.fast]
model = "z"
"""
TABLE = ("mcp_servers", "mine")


def test_a_table_is_added_replaced_and_removed_and_nothing_else_changes() -> None:
    entry = {**ENTRY, "env": {"A B": 'quo"te\\'}}
    added = _toml.with_entry(CODEX, TABLE, entry)
    assert added.startswith(CODEX)
    assert tomllib.loads(added)["mcp_servers"]["mine"] == entry
    assert _toml.with_entry(added, TABLE, entry) == added
    more = added + "\n# last\n[last]\nx = 1\n"
    replaced = _toml.with_entry(more, TABLE, ENTRY)
    assert tomllib.loads(replaced) == {
        **tomllib.loads(CODEX),
        "mcp_servers": {**tomllib.loads(CODEX)["mcp_servers"], "mine": ENTRY},
        "last": {"x": 1},
    }
    assert "\n# last\n[last]" in replaced
    assert _toml.without_entry(added, TABLE) == CODEX


def test_a_table_with_a_quoted_name_is_found() -> None:
    text = '[mcp_servers."mine"]\ncommand = "old"\n'
    assert tomllib.loads(_toml.with_entry(text, TABLE, ENTRY))["mcp_servers"] == {"mine": ENTRY}


SERVERS = st.fixed_dictionaries(
    {"command": st.text(max_size=8), "args": st.lists(st.text(max_size=8), max_size=2)},
    optional={"env": st.dictionaries(st.text(max_size=6), st.text(max_size=8), max_size=2)},
)


@pytest.mark.requirement("I10.4.2")
@given(
    servers=st.dictionaries(st.sampled_from(["other", "mine"]), SERVERS),
    entry=SERVERS,
    gap=st.sampled_from(["", "\n", "# comment\n", "\n# comment\n"]),
    line=st.sampled_from(["\n", "\r\n"]),
)
def test_any_toml_keeps_its_data_comments_and_line_ends_and_gets_the_entry(
    servers: dict[str, Any], entry: dict[str, Any], gap: str, line: str
) -> None:
    tables = [_toml.table(["mcp_servers", name], each) for name, each in servers.items()]
    text = "".join(each + gap for each in tables) + "[last]\nx = 1 # kept\n"
    text = text.replace("\n", line)
    known = _toml.load(text)
    expected = {**known, "mcp_servers": {**known.get("mcp_servers", {}), "mine": entry}}
    changed = _toml.with_entry(text, TABLE, entry)
    assert _toml.load(changed) == expected
    assert changed.count("# comment") == text.count("# comment")
    assert "\n" not in changed.replace(line, "")
    left = _toml.without_entry(changed, TABLE)
    del expected["mcp_servers"]["mine"]
    assert {**_toml.load(left), "mcp_servers": _toml.load(left).get("mcp_servers", {})} == expected
    assert "[last]" + line + "x = 1 # kept" in left


@pytest.mark.requirement("I10.4.2")
@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = {mine = {command = "x"}}\n',
        '[mcp_servers]\nmine.command = "x"\n',
        "[mcp_servers]\nmine = {}\n",
    ],
)
def test_a_table_that_has_no_header_of_its_own_is_not_touched(text: str) -> None:
    for edit in (lambda: _toml.with_entry(text, TABLE, ENTRY), lambda: _toml.without_entry(text, TABLE)):
        with pytest.raises(_json.UnsupportedShape, match="cannot be edited safely"):
            edit()
