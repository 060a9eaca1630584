"""The lock file: what it holds, and what is no lock file."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_bridge.errors import UsageError
from toolspan_bridge.trust import Definitions, drifts, read_lock, write_lock

pytestmark = pytest.mark.requirement("I12.1.10")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=3)


def definition(name: str = "look", description: str = "Looks.", **more: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {"name": name, "description": description, "schema": {}, "annotations": {}}
    return parts | more


def locked(path: Path, definitions: Definitions) -> Definitions:
    write_lock(path, definitions)
    found = read_lock(path)
    assert found is not None
    return found


@given(name=st.text(min_size=1), server=st.text(min_size=1), words=st.text(), schema=OBJECTS, hints=OBJECTS)
def test_what_is_written_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    server: str,
    words: str,
    schema: dict[str, Any],
    hints: dict[str, Any],
) -> None:
    path = tmp_path_factory.mktemp("lock") / "toolspan.lock"
    given_ = {server: {name: definition(name, words, schema=schema, annotations=hints)}}
    assert list(drifts(given_, locked(path, given_))) == []


def test_it_is_the_same_text_whatever_the_order_and_each_line_of_a_description_is_one(tmp_path: Path) -> None:
    one, two = definition("one", "First.\nSecond."), definition("two")
    write_lock(tmp_path / "a", {"x": {"one": one, "two": two}, "y": {"two": two}})
    write_lock(tmp_path / "b", {"y": {"two": two}, "x": {"two": two, "one": one}})
    text = (tmp_path / "a").read_text()
    assert text == (tmp_path / "b").read_text()
    assert '"First.",\n' in text and '"Second."\n' in text


def test_characters_that_people_do_not_see_are_escaped_in_it(tmp_path: Path) -> None:
    hidden = {"x": {"look": definition(description="Looks.\u202e\x1b[2J\U000e0041")}}
    assert locked(tmp_path / "lock", hidden) == hidden
    text = (tmp_path / "lock").read_text()
    assert "\u202e" not in text and "\\u202e" in text and "\x1b" not in text and "\U000e0041" not in text


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_it_is_for_others_to_read_and_a_link_to_it_stays_a_link(tmp_path: Path) -> None:
    write_lock(tmp_path / "real", {})
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o644
    (tmp_path / "link").symlink_to("real")
    write_lock(tmp_path / "link", {"x": {"look": definition()}})
    assert (tmp_path / "link").is_symlink() and "Looks." in (tmp_path / "real").read_text()


def test_no_file_locks_nothing(tmp_path: Path) -> None:
    assert read_lock(tmp_path / "lock") is None


TOOL: dict[str, object] = {"description": ["Looks."], "schema": {}, "annotations": {}}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "not JSON"),
        ("<<<<<<< HEAD\n{}", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "$ is no object"),
        ("{}", "another version"),
        ('{"toolspan_lock": 2, "servers": {}}', "another version"),
        ('{"toolspan_lock": 1}', "$.servers is no object"),
        (json.dumps({"toolspan_lock": 1, "servers": {"x": []}}), "$.servers.x is no object"),
        *[
            (
                json.dumps({"toolspan_lock": 1, "servers": {"x": {"t": {**TOOL, key: 5}}}}),
                f"$.servers.x.t.{key}",
            )
            for key in TOOL
        ],
    ],
)
def test_what_is_no_lock_file_is_never_taken_for_an_unlocked_one(
    text: str, fault: str, tmp_path: Path
) -> None:
    (tmp_path / "lock").write_text(text)
    with pytest.raises(UsageError) as caught:
        read_lock(tmp_path / "lock")
    assert fault in str(caught.value) and "toolspan lock" in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="FIFOs are POSIX")
def test_a_fifo_in_its_place_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lock")
    with pytest.raises(UsageError, match="no regular file"):
        read_lock(tmp_path / "lock")


def test_drift_is_what_changed_what_is_new_and_what_is_missing_save_of_servers_that_are_silent() -> None:
    before = {
        "x": {"a": definition("a"), "b": definition("b"), "c": definition("c")},
        "z": {"d": definition("d")},
    }
    now = {"x": {"a": definition("a"), "b": definition("b", "B!"), "n": definition("n")}}
    found = {(drift.tool, drift.kind) for drift in drifts(before, now, silent=["z"])}
    assert found == {("b", "changed"), ("c", "missing"), ("n", "new")}
    assert ("d", "missing") in {(drift.tool, drift.kind) for drift in drifts(before, now)}


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Looks. And sends."},
        {"schema": {"type": "object", "properties": {"to": {"description": "the user's password"}}}},
        {"annotations": {"destructiveHint": False}},
    ],
)
def test_every_part_of_a_definition_counts(change: dict[str, Any]) -> None:
    found = list(drifts({"x": {"look": definition()}}, {"x": {"look": definition(**change)}}))
    assert [drift.kind for drift in found] == ["changed"]
    assert any(line.startswith("+") for line in found[0].diff[2:])
