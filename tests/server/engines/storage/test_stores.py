"""What a tool stores, in files and in databases: the same of both."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.postgres import POSTGRES, own_name, schema
from toolspan_server import Context, FileStore, InvalidParameters, ToolFailure, ToolStorage
from toolspan_server.calls.caller import CONVERSATION_KEY, LOCAL
from toolspan_server.calls.storage import DocumentStore
from toolspan_server.engines.storage import SqlStore, StorageLimits

pytestmark = pytest.mark.requirement("I12.4.10")

ODD_VALUES = [
    None,
    0,
    -1.5,
    2**3_000,
    "",
    "\x00\n",
    "héllo 🙂",
    "\ud800",
    [],
    {},
    {"a": [1, {"b": None}]},
    [[True, 1, 1.0]],
]


@pytest.fixture(params=["files", "sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DocumentStore]:
    limits = StorageLimits(document_bytes=20_000, user_bytes=30 * 4_096)
    if request.param == "files":
        yield FileStore(tmp_path / "made" / "later", limits)
        return
    if request.param == "sqlite":
        yield from closing(SqlStore("sqlite:///made/later.db", tmp_path, limits))
        return
    with schema("tests_storage"):
        url = f"{POSTGRES}?options=-csearch_path%3D{own_name('tests_storage')}"
        yield from closing(SqlStore(url, tmp_path, limits))


def closing(store: SqlStore) -> Iterator[SqlStore]:
    yield store
    store.close()


def of(
    store: DocumentStore, user: str = "ann", conversation: str = "c-1", tool: str = "notes"
) -> ToolStorage:
    return ToolStorage(user, conversation, tool, store)


def test_what_is_set_is_there_until_it_is_deleted_or_cleared(store: DocumentStore) -> None:
    storage = of(store)
    assert storage.get("a") is None
    assert storage.get("a", 7) == 7
    assert storage.get_all() == {}
    storage.set("a", 1)
    storage.set("b", [2])
    storage.set("a", "again")
    assert (storage.get("a"), storage.get("b"), storage.get_all()) == ("again", [2], {"a": "again", "b": [2]})
    storage.delete("a")
    storage.delete("never there")
    assert of(store).get_all() == {"b": [2]}
    storage.clear()
    storage.clear()
    assert of(store).get_all() == {}
    storage.set("c", 3)
    assert of(store).get_all() == {"c": 3}
    storage.delete("c")
    assert of(store).get_all() == {}


@pytest.mark.parametrize("value", ODD_VALUES, ids=lambda value: repr(value)[:20])
def test_any_json_value_comes_back_as_it_was(store: DocumentStore, value: Any) -> None:
    of(store).set("key", value)
    assert repr(of(store).get("key", "missing")) == repr(value)


def test_what_was_read_is_a_copy(store: DocumentStore) -> None:
    of(store).set("a", [1])
    of(store).get("a").append(2)
    of(store).get_all()["b"] = 3
    assert of(store).get_all() == {"a": [1]}


@pytest.mark.parametrize(
    "value", [object(), float("nan"), {1, 2}, b"bytes"], ids=lambda value: type(value).__name__
)
def test_what_is_no_json_is_refused_and_changes_nothing(store: DocumentStore, value: Any) -> None:
    of(store).set("a", 1)
    with pytest.raises(ToolFailure, match=r"^Storage holds JSON values only .*unchanged$") as raised:
        of(store).set("b", value)
    assert raised.value.error_code == "storage_value"
    assert of(store).get_all() == {"a": 1}


@pytest.mark.parametrize("key", ["", "x" * 201])
def test_a_key_has_1_to_200_characters(store: DocumentStore, key: str) -> None:
    with pytest.raises(InvalidParameters, match="a key of storage must have 1 to 200 characters"):
        of(store).set(key, 1)


SPELLINGS = [
    "ann",
    "Ann",
    "ANN",
    "ann.",
    "ann ",
    "a/nn",
    "../ann",
    "..",
    "/",
    "\\",
    "con",
    "CON",
    "ann\x00",
    "ann\n",
    "zo\u00eb",
    "zoe\u0308",
    "\ud800",
    "\\ud800",
    "x" * 200,
    "x" * 199 + "y",
    "~",
    ".lock",
    "ann~" + "0" * 32,
    "token ann",
]
"""Names that some file system or database would take for each other, or for something else."""


@pytest.mark.requirement("I12.4.11")
@pytest.mark.parametrize("part", ["user", "conversation", "tool"])
def test_no_two_names_share_anything_however_alike(store: DocumentStore, tmp_path: Path, part: str) -> None:
    for number, name in enumerate(SPELLINGS):
        kept = of(store, **{part: name})
        assert kept.get_all() == {}
        kept.set("name", number)
    for number, name in enumerate(SPELLINGS):
        assert of(store, **{part: name}).get_all() == {"name": number}
    assert [path.name for path in tmp_path.iterdir()] in (["made"], [])


@pytest.mark.requirement("I12.4.11")
def test_parts_of_a_name_do_not_run_together(store: DocumentStore) -> None:
    of(store, "ab", "c", "d").set("a", 1)
    assert of(store, "a", "bc", "d").get_all() == {}
    assert of(store, "ab", "cd", "").get_all() == {}
    assert of(store, "ab", "d", "c").get_all() == {}


@pytest.mark.requirement("I12.4.12")
def test_a_document_has_a_quota_that_the_refusal_names(store: DocumentStore) -> None:
    of(store).set("a", "x" * 15_000)
    with pytest.raises(ToolFailure, match=r"20,000 bytes .*\(storage\.document_bytes\)") as raised:
        of(store).set("b", "x" * 5_000)
    assert raised.value.error_code == "storage_quota"
    assert of(store).get_all() == {"a": "x" * 15_000}
    of(store).set("a", "small")
    of(store).set("b", "x" * 5_000)


@pytest.mark.requirement("I12.4.12")
def test_a_user_has_a_quota_over_all_conversations_and_other_users_have_theirs(store: DocumentStore) -> None:
    for number in range(30):
        of(store, conversation=f"c-{number}").set("a", 1)
    with pytest.raises(ToolFailure, match=r"122,880 bytes for one user \(storage\.user_bytes\)"):
        of(store, conversation="one more").set("a", 1)
    of(store, conversation="c-0").set("a", "no block more")
    with pytest.raises(ToolFailure, match=r"storage\.user_bytes.*126,976"):
        of(store, conversation="c-0").set("a", "x" * 5_000)
    of(store, user="bob").set("a", 1)
    of(store, conversation="c-0").clear()
    of(store, conversation="one more").set("a", 1)
    assert of(store, conversation="c-1").get_all() == {"a": 1}


@pytest.mark.requirement("I12.4.14")
def test_updates_of_many_threads_are_each_kept(store: DocumentStore) -> None:
    def add(number: int) -> None:
        for place in range(10):
            entry = [number, place]
            of(store).update("sum", lambda known, entry=entry: [*known, entry], default=[])

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(of(store).get("sum")) == [[number, place] for number in range(4) for place in range(10)]


def test_the_context_of_a_call_has_the_storage_of_its_tool_and_conversation(store: DocumentStore) -> None:
    context = Context(LOCAL, tool_name="notes", meta={CONVERSATION_KEY: "c-9"}, store=store)
    context.storage.set("a", 1)
    assert of(store, "local", "c-9").get_all() == {"a": 1}


def test_a_context_without_a_server_says_that_it_has_no_storage() -> None:
    with pytest.raises(ToolFailure, match="no storage for the tool 'notes'") as raised:
        Context(LOCAL, tool_name="notes").storage.get("a")
    assert raised.value.error_code == "storage_not_available"
