"""The presets of a user: records in a file, and what is refused of them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolspan_bridge import Preset, PresetStore, StoreError, UsageError

pytestmark = pytest.mark.requirement("I12.4.30")

OLD = {
    "id": "default",
    "name": "Default Assistant",
    "instructions": "You are a helpful assistant...",
    "model": "openai/gpt-5.1",
    "default_reasoning_level": "medium",
    "created_at": 1701234567,
    "updated_at": 1701234568,
}
"""A record from before presets had tools, and its keys are those of the background document."""


def stored(store: PresetStore) -> list[dict[str, Any]]:
    whole: dict[str, Any] = json.loads(store.path.read_text("utf-8"))
    assert list(whole) == ["presets"]
    found: list[dict[str, Any]] = whole["presets"]
    return found


def written(folder: Path, *records: Any) -> PresetStore:
    store = PresetStore("local", folder)
    store.path.write_text(json.dumps({"presets": list(records)}))
    return store


def test_a_new_preset_has_every_field_of_the_record(tmp_path: Path) -> None:
    store = PresetStore("local", tmp_path / "later")
    assert store.all() == ()
    assert not (tmp_path / "later").exists()
    made = store.create("Research", instructions="Cite.", model="openai/gpt-5.1")
    assert store.all() == (made,)
    assert stored(store) == [made.as_dict()]
    assert list(made.as_dict()) == [*OLD, "enabled_tools"]
    assert made.enabled_tools == ("web_search", "calculator")
    assert made.default_reasoning_level == "medium"
    assert made.created_at == made.updated_at > 1_700_000_000


def test_it_is_found_by_its_name_and_its_id(tmp_path: Path) -> None:
    store = PresetStore("local", tmp_path)
    made = store.create("Research")
    store.create("Another")
    assert store.get("Research") == store.get(made.id) == made
    with pytest.raises(UsageError, match=r"no preset 'research' \(presets: 'Research', 'Another'\)"):
        store.get("research")


def test_what_is_given_is_updated_and_nothing_else(tmp_path: Path) -> None:
    store = PresetStore("local", tmp_path)
    made = store.create("Research", instructions="Cite.", model="openai/gpt-5.1")
    other = store.create("Another")
    changed = store.update(
        "Research",
        new_name="Search",
        instructions="",
        default_reasoning_level="none",
        enabled_tools=["calculator", "git_log", "calculator"],
        known_tools=["git_log"],
    )
    assert (
        changed
        == store.get(made.id)
        == Preset(
            made.id,
            "Search",
            "",
            "openai/gpt-5.1",
            "none",
            made.created_at,
            changed.updated_at,
            ("calculator", "git_log"),
        )
    )
    assert changed.updated_at >= made.updated_at
    assert store.get("Another") == other
    assert store.delete("Search") == changed
    assert store.all() == (other,)


def test_an_old_record_gets_the_default_tools_and_keeps_what_is_not_known_here(tmp_path: Path) -> None:
    store = written(tmp_path, {**OLD, "colour": "red"})
    [old] = store.all()
    assert old.as_dict() == {**OLD, "enabled_tools": ["web_search", "calculator"]}
    assert stored(store) == [{**OLD, "colour": "red"}]
    store.update("default", instructions="Short.")
    [record] = stored(store)
    assert record["enabled_tools"] == ["web_search", "calculator"]
    assert (record["colour"], record["instructions"]) == ("red", "Short.")


@pytest.mark.requirement("I12.4.31")
@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([], "At least one tool must be enabled"),
        (["calculator", "nope"], "Unknown tool: nope"),
        (["Calculator"], "Unknown tool: Calculator"),
        ([""], "Unknown tool: "),
    ],
)
def test_tools_that_are_none_are_refused_in_exact_words(
    tmp_path: Path, tools: list[str], message: str
) -> None:
    store = PresetStore("local", tmp_path)
    store.create("Old")
    attempts: list[Callable[[], object]] = [
        lambda: store.create("New", enabled_tools=tools, known_tools=["git_log"]),
        lambda: store.update("Old", enabled_tools=tools, known_tools=["git_log"]),
    ]
    before = store.path.read_bytes()
    for attempt in attempts:
        with pytest.raises(UsageError) as raised:
            attempt()
        assert raised.value.message == message
    assert store.path.read_bytes() == before


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"name": ""}, "one line of 1 to 100 characters"),
        ({"name": "a\nb"}, "one line"),
        ({"name": " a"}, "without blanks around it"),
        ({"name": "\x1b[31m"}, "one line"),
        ({"name": "x" * 101}, "one line"),
        ({"name": "Old"}, "there is a preset 'Old' already"),
        ({"instructions": "x" * 100_001}, "may have 100,000 characters, not 100,001"),
        ({"model": "gpt-5.1"}, "write PROVIDER/MODEL"),
        ({"model": "openai/"}, "write PROVIDER/MODEL"),
        ({"default_reasoning_level": "much"}, "no reasoning level 'much': one of none, low, medium, high"),
    ],
)
def test_a_field_that_cannot_be_is_refused(tmp_path: Path, fields: dict[str, str], why: str) -> None:
    store = PresetStore("local", tmp_path)
    store.create("Old")
    before = store.path.read_bytes()
    with pytest.raises(UsageError, match=why):
        store.create(**{"name": "New", **fields})
    store.create("Third")
    changes = {"new_name" if key == "name" else key: value for key, value in fields.items()}
    with pytest.raises(UsageError, match=why):
        store.update("Third", **changes)
    store.delete("Third")
    assert store.path.read_bytes() == before


def test_each_user_has_presets_of_their_own(tmp_path: Path) -> None:
    ann, bob = PresetStore("ann", tmp_path), PresetStore("../Ann", tmp_path)
    ann.create("Mine")
    assert bob.all() == ()
    bob.create("Mine", instructions="Another.")
    assert [preset.instructions for preset in ann.all()] == [""]
    assert {path.parent for path in (ann.path, bob.path)} == {tmp_path}


def test_without_a_folder_they_are_in_the_users_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    PresetStore("local").create("Mine")
    assert (tmp_path / "toolspan" / "presets" / "local.json").is_file()


@pytest.mark.requirement("I12.4.32")
@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "is no JSON"),
        ('{"presets": [', "is no JSON"),
        ("[]", 'has no "presets"'),
        ('{"presets": 7}', 'has no "presets"'),
        ('{"presets": [7]}', "holds a preset that is no object"),
        ("[" * 100_000, "is no JSON"),
    ],
)
def test_a_damaged_file_is_an_error_that_names_it_and_stays_as_it_is(
    tmp_path: Path, content: str, why: str
) -> None:
    store = PresetStore("local", tmp_path)
    store.path.write_text(content)
    for attempt in (store.all, lambda: store.get("a"), lambda: store.create("a"), lambda: store.delete("a")):
        with pytest.raises(StoreError) as raised:
            attempt()
        assert why in raised.value.message and str(store.path) in raised.value.message
    assert store.path.read_text() == content


@pytest.mark.requirement("I12.4.32")
@pytest.mark.parametrize(
    "fault",
    [
        {"id": 7},
        {"name": None},
        {"created_at": "yesterday"},
        {"default_reasoning_level": "much"},
        {"enabled_tools": "calculator"},
        {"enabled_tools": [1]},
        {"enabled_tools": None},
    ],
    ids=str,
)
def test_a_record_with_a_fault_is_an_error_that_names_the_key(tmp_path: Path, fault: dict[str, Any]) -> None:
    store = written(tmp_path, {**OLD, **fault})
    [key] = fault
    with pytest.raises(StoreError, match=f"holds a preset with a fault: {key}: missing or of the wrong type"):
        store.all()


def test_two_of_one_name_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    store = written(tmp_path, OLD, {**OLD, "id": "other"})
    with pytest.raises(UsageError, match=r"several presets are named 'Default Assistant'.*default, other"):
        store.get("Default Assistant")
    assert store.get("other").id == "other"


@pytest.mark.requirement("I12.4.32")
def test_threads_and_processes_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from toolspan_bridge import PresetStore\n"
        "for n in range(10): PresetStore('local', Path(sys.argv[1])).create(f'process {n}')"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)])
    threads = [
        threading.Thread(
            target=lambda number=number: [
                PresetStore("local", tmp_path).create(f"thread {number} {n}") for n in range(5)
            ]
        )
        for number in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert process.wait(120) == 0
    names = {preset.name for preset in PresetStore("local", tmp_path).all()}
    assert names == {f"process {n}" for n in range(10)} | {
        f"thread {t} {n}" for t in range(3) for n in range(5)
    }
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.requirement("I12.4.32")
@pytest.mark.skipif(sys.platform == "win32", reason="file limits are POSIX")
def test_a_write_that_the_disk_refuses_changes_nothing(tmp_path: Path) -> None:
    store = PresetStore("local", tmp_path)
    store.create("Old")
    before = store.path.read_bytes()
    program = (
        "import resource, sys; from pathlib import Path\n"
        "from toolspan_bridge import PresetStore, StoreError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))\n"
        "try: PresetStore('local', Path(sys.argv[1])).create('New', instructions='x' * 5_000)\n"
        "except StoreError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "cannot be written: File too large" in done.stdout
    assert store.path.read_bytes() == before


@pytest.mark.requirement("I24.5.1")
def test_presets_that_would_take_too_many_bytes_are_refused_and_none_is_lost(tmp_path: Path) -> None:
    many = [{**OLD, "id": f"p{n}", "name": f"P{n}", "instructions": "x" * 100_000} for n in range(167)]
    store = written(tmp_path, *many)
    with pytest.raises(UsageError, match=r"may take 16,777,216: delete some first"):
        store.create("Another", instructions="x" * 100_000)
    assert len(store.all()) == len(many)
    PresetStore("other", tmp_path).create("Another", instructions="x" * 100_000)
    store.delete("p1")
    store.create("Another", instructions="x" * 100_000)
