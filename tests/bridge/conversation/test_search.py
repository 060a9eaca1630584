"""What is found in saved conversations, in which of them it is looked for at all, and under what names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typing_extensions import override

from toolspan_bridge import Assistant, Conversation, ToolCall, ToolOutcome, ToolResults, ToolSpec, User
from toolspan_bridge.conversation.conversation import Beginning
from toolspan_bridge.conversation.log import Log
from toolspan_bridge.conversation.search import Found, search
from toolspan_bridge.conversation.store import ConversationStore, Entry
from toolspan_bridge.conversation.tool_names import ToolNames

SPEC: dict[str, Any] = {"description": "Finds a needle.", "schema": {"type": "object"}}


class Counted(ConversationStore):
    """Counts the conversations that are read whole."""

    read_whole = 0

    @override
    def read(self, entry: Entry) -> Log:
        self.read_whole += 1
        return super().read(entry)


def conversation(*texts: str, result: Any = "seen") -> Conversation:
    outcome = ToolOutcome("c1", "look", {"success": True, "result": result})
    messages = [
        User(texts[0]),
        Assistant("", (ToolCall("c1", "files__look", {"n": [1, 2]}, '{"n": [1, 2]}'),)),
        ToolResults((outcome,)),
        *(Assistant(text) for text in texts[1:]),
    ]
    found = Conversation(messages)
    found.beginnings["m"] = Beginning("", (ToolSpec("files", "look", **SPEC),))
    return found


def saved(folder: Path, *conversations: Conversation) -> Counted:
    """A store in which each conversation is kept as it happened."""
    store = Counted(folder / "kept")
    for each in conversations:
        messages, each.messages = each.messages, []
        each.journal = journal = store.journal(each, print)
        each.record(messages)
        journal.close()
        each.journal, each.messages = None, messages
    return store


def places(store: ConversationStore, wanted: str) -> list[Found]:
    return list(search(store, wanted, per_conversation=99, report=pytest.fail))


@pytest.mark.requirement("I12.4.54")
def test_a_log_without_the_words_is_not_taken_apart(tmp_path: Path) -> None:
    many = [conversation(f"question {number}", "an answer") for number in range(20)]
    store = saved(tmp_path, *many, conversation("the needle?", "found"))
    assert [found.place for found in places(store, "needle")] == ["title", "question"]
    assert store.read_whole == 1
    assert places(store, "nowhere at all") == [] and store.read_whole == 1


@pytest.mark.requirement("I12.4.54")
def test_an_answer_of_which_nothing_is_to_be_seen_is_found(tmp_path: Path) -> None:
    store = saved(tmp_path, conversation("question", " ", result={"a": 1}))
    assert "answer" in [found.place for found in places(store, " ")]


@pytest.mark.requirement("I12.4.54")
@given(text=st.text(min_size=1, max_size=12), data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_whatever_part_of_a_text_is_wanted_is_found(tmp_path: Path, text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    part = text[start : data.draw(st.integers(start + 1, len(text)))]
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    store = saved(folder, conversation("question", text, result={"a": [text, 1.5]}))
    changed = [part, part.upper(), part.lower()]
    for wanted in changed:
        expected = wanted.casefold() in text.casefold()
        assert expected <= ("answer" in [found.place for found in places(store, wanted)])


@pytest.mark.requirement("I12.4.54")
@pytest.mark.parametrize("wanted", ["look({", '"n": [1, 2]', "1, 2", "LOOK"])
def test_calls_are_found_as_they_are_shown(tmp_path: Path, wanted: str) -> None:
    (found,) = places(saved(tmp_path, conversation("question", "answer")), wanted)
    assert (found.place, found.text) == ("call", 'look({"n": [1, 2]})')


@pytest.mark.requirement("I12.4.55")
def test_what_sub_agents_said_is_found_under_their_parent(tmp_path: Path) -> None:
    parent = conversation("question", "answer")
    store = saved(tmp_path, parent)
    folder = store.subagents(parent.id)
    folder.mkdir()
    conversation("a task", "the needle").save(folder / "2-c1-abcd.json")
    (found,) = places(store, "needle")
    assert (found.entry.head.id, found.place, found.subagent) == (parent.id, "answer", "2-c1-abcd.json")


@pytest.mark.requirement("I12.4.56")
def test_tools_are_called_by_their_own_names_where_these_name_one(tmp_path: Path) -> None:
    tools = [ToolSpec(server, name, **SPEC) for server, name in (("a", "one"), ("a", "two"), ("b", "two"))]
    talk = Conversation()
    talk.beginnings["m"] = Beginning("", tuple(tools))
    names = ToolNames(talk)
    shown = [names.of(wire) for wire in ("a__one", "a__two", "b__two", "made_up")]
    assert shown == ["one", "a/two", "b/two", "made_up"]
