"""Conversations on disk: exact, bounded, whole or not at all, and open to any provider afterwards."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.outcomes import failed, image, part, said, succeeded
from tests.support.wire_peers import FORMATS, wires
from toolspan_bridge.conversation import Conversation, conversation
from toolspan_bridge.errors import StoreError, UsageError
from toolspan_bridge.formats import get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import (
    Assistant,
    Citation,
    Message,
    Part,
    Request,
    ToolCall,
    ToolOutcome,
    ToolResults,
    ToolSpec,
    User,
)

pytestmark = pytest.mark.requirement("I5.1.3")

TOOL = ToolSpec("shop", "find", "Find things.", {"type": "object", "properties": {"q": {"type": "string"}}})

_text = st.text(max_size=12)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=6,
)
_object = st.dictionaries(_text, _json, max_size=3)
_parts = st.lists(
    st.sampled_from([image(), said("hé"), part("resource_link", uri="x://y", name="y")]), max_size=2
)
_calls = st.builds(
    ToolCall,
    id=st.sampled_from(["call_1", "toolu_2", "", "x" * 70, "ü:1"]),
    name=st.sampled_from(["shop__find", "gone__tool", "no such. name"]),
    arguments=st.none() | _object,
    raw=_text,
    malformed=_text,
    opaque=_json,
)
_places = st.none() | st.integers(0, 2**40)
_citations = st.builds(Citation, url=_text, title=_text, start=_places, end=_places, quoted=_text)
_opaques = {
    wire: get_format(wire)
    .parse_reply(wires(wire).answer("so", [("call_1", "shop__find", {"q": "x"})]))
    .message
    for wire in FORMATS
}


@st.composite
def _turns(draw: st.DrawFn) -> list[Message]:
    """A question, an answer with calls perhaps, and a result for each of them."""
    calls = draw(st.lists(_calls, max_size=3))
    spoken: Assistant = draw(
        st.builds(
            Assistant,
            text=_text,
            calls=st.just(tuple(calls)),
            opaque=_json,
            opaque_format=st.sampled_from(["", *FORMATS]),
            incomplete=st.booleans(),
            citations=st.lists(_citations, max_size=2).map(tuple),
        )
        | st.sampled_from(list(_opaques.values()))
    )
    made = spoken.calls
    outcomes = tuple(
        draw(
            st.builds(
                ToolOutcome,
                call_id=st.just(call.id),
                name=st.just("find"),
                result=st.just({"success": True, "result": draw(_json), "tool_name": "find"}),
                parts=_parts.map(tuple),
                structured=_json,
            )
        )
        for call in made
    )
    asked = draw(st.builds(User, text=_text, parts=_parts.map(tuple)))
    return [asked, spoken, *([ToolResults(outcomes)] if outcomes else [])]


conversations = st.lists(_turns(), max_size=3).map(
    lambda turns: [message for turn in turns for message in turn]
)


def _reread(messages: list[Message]) -> list[Message]:
    return Conversation.from_json(Conversation(messages).to_json()).messages


@given(conversations)
@settings(max_examples=60, deadline=None)
def test_every_conversation_comes_back_exactly_as_it_was(messages: list[Message]) -> None:
    assert _reread(messages) == messages


@given(conversations)
@settings(max_examples=25, deadline=None)
def test_a_saved_conversation_is_the_same_request_in_every_format(messages: list[Message]) -> None:
    names = NameTable.of([TOOL])
    moved = _reread(messages)
    for wire in FORMATS:
        written = get_format(wire).render_request
        before = written(Request("m", (*messages, User("and now?")), tools=(TOOL,)), names)
        after = written(Request("m", (*moved, User("and now?")), tools=(TOOL,)), names)
        assert json.dumps(after) == json.dumps(before)


@pytest.mark.parametrize("origin", FORMATS)
@pytest.mark.parametrize("wire", FORMATS)
def test_a_conversation_goes_on_with_another_provider_and_opaque_state_only_to_its_own(
    origin: str, wire: str
) -> None:
    spoken = Assistant(
        "so",
        (ToolCall("bad id!", "shop__find", {"q": "x"}, '{"q": "x"}'),),
        opaque=[{"secret": "only-for-its-own-format"}],
        opaque_format=origin,
    )
    messages = [
        User("find x"),
        spoken,
        ToolResults((succeeded(said("found"), call_id="bad id!"),)),
        User("go on"),
    ]
    request = Request("m", tuple(_reread(messages)), tools=(TOOL,))
    written = json.dumps(get_format(wire).render_request(request, NameTable.of([TOOL])))
    assert "bad id!" not in written or wire == "ollama"
    assert "found" in written and "find x" in written
    if origin != wire:
        assert "only-for-its-own-format" not in written


def test_a_file_is_for_its_owner_only_and_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    Conversation([User("one")]).save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 or os.name == "nt"
    path.chmod(0o640)
    Conversation(
        [User("one"), Assistant("two \ud800", incomplete=True), ToolResults((failed(call_id="c"),))]
    ).save(path)
    assert Conversation.load(path).messages[1] == Assistant("two \ud800", incomplete=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640 or os.name == "nt"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "talk.json"
    Conversation([User("one")]).save(path)
    with pytest.raises(StoreError, match="cannot be written as JSON"):
        Conversation([User("one", (Part("image", {"data": object()}),))]).save(path)
    monkeypatch.setattr(conversation, "MAX_BYTES", 100)
    with pytest.raises(StoreError, match="too large"):
        Conversation([User("x" * 200)]).save(path)
    monkeypatch.undo()
    assert Conversation.load(path).messages == [User("one")]
    with pytest.raises(StoreError, match="cannot be saved as"):
        Conversation().save(tmp_path / "nowhere" / "talk.json")


def _bare(**changes: Any) -> dict[str, Any]:
    return {"toolspan_conversation": 1, "messages": [{"role": "user", "text": "hi", "parts": []}], **changes}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "no JSON, or damaged"),
        (json.dumps(_bare())[:-9], "no JSON, or damaged"),
        ("[" * 100_000, "no JSON, or damaged"),
        ("[]", "no saved conversation"),
        ('{"name": "a config"}', "no saved conversation"),
        (json.dumps(_bare(toolspan_conversation=True)), "no saved conversation"),
        (json.dumps(_bare(toolspan_conversation=2)), "a newer toolspan saved it .version 2"),
        (json.dumps(_bare(messages={})), r"\$.messages: must be a list"),
        (json.dumps(_bare(messages=[{"role": "robot"}])), r"\$.messages\[0\].role: must be one of user"),
        (json.dumps(_bare(messages=[{"role": ["user"]}])), r"\$.messages\[0\].role"),
        (json.dumps(_bare(messages=[{"role": "user"}])), r"\$.messages\[0\]: text is missing"),
        (json.dumps(_bare(messages=[{"role": "user", "text": "a", "mood": 1}])), "unknown mood"),
        (
            json.dumps(
                _bare(messages=[{"role": "assistant", "calls": [{"id": 3, "name": "", "arguments": {}}]}])
            ),
            r"\$.messages\[0\].calls\[0\].id: must be a text",
        ),
        (
            json.dumps(_bare(messages=[{"role": "assistant", "incomplete": 1}])),
            "incomplete: must be true or false",
        ),
    ],
)
def test_a_damaged_or_newer_file_is_refused_with_what_is_wrong_and_where(
    content: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "talk.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=f"(?s)talk.json cannot be read: .*{said}"):
        Conversation.load(path)


def test_a_file_that_is_too_large_or_absent_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="No such file"):
        Conversation.load(tmp_path / "none.json")
    Conversation([User("x" * 200)]).save(tmp_path / "talk.json")
    monkeypatch.setattr(conversation, "MAX_BYTES", 100)
    with pytest.raises(UsageError, match="larger than 100 bytes"):
        Conversation.load(tmp_path / "talk.json")
