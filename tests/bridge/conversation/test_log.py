"""A conversation's log: whole at every byte, held by one process, and never in the conversation's way."""

from __future__ import annotations

import json
import os
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bridge.conversation.test_conversation import conversations
from tests.support.logged_talks import MAX_BYTES, LoggedTalk, calls
from tests.support.waiting import BOUND_S
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.conversation.log import read_log
from toolspan_bridge.conversation.log_file import hold
from toolspan_bridge.conversation.store import ConversationStore
from toolspan_bridge.errors import BusyError, ProviderError, UsageError
from toolspan_bridge.messages import Assistant, Message, ToolResults, User

pytestmark = pytest.mark.anyio

FAILS = {"error": {"message": "overloaded"}}


async def talked(folder: Path) -> LoggedTalk:
    """Two questions, the first with three calls in two turns."""
    talk = LoggedTalk(folder)
    await talk.ask("one?", calls(1, 2), calls(3), {"text": "1"})
    await talk.ask("two?", {"text": "2"})
    return talk


def beneath(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def reread(path: Path) -> Conversation:
    return read_log(path, MAX_BYTES).conversation


@pytest.mark.requirement("I12.4.40")
async def test_what_is_read_back_is_what_was_said(tmp_path: Path) -> None:
    talk = await talked(tmp_path)
    found = reread(talk.path)
    assert found.messages == talk.conversation.messages
    assert (found.id, found.usd, found.beginnings) == (
        talk.conversation.id,
        talk.conversation.usd,
        talk.conversation.beginnings,
    )
    assert talk.store.find("latest").head.title == "one?"


@pytest.mark.requirement("I12.4.40")
@settings(max_examples=30)
@given(conversations)
async def test_every_conversation_goes_through_a_log_unchanged(
    tmp_path_factory: pytest.TempPathFactory, messages: list[Message]
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    talk = LoggedTalk(folder)
    for count in range(1, len(messages) + 1):
        talk.journal.update(talk.conversation, messages[:count])
    assert talk.reports == []
    if messages:
        assert reread(talk.path).messages[: len(messages)] == messages


@pytest.mark.long
@pytest.mark.requirement("I12.4.40")
async def test_a_log_that_is_cut_at_any_byte_is_a_beginning_of_what_happened(tmp_path: Path) -> None:
    talk = await talked(tmp_path / "whole")
    data = talk.path.read_bytes()
    whole = talk.conversation.messages
    cut = tmp_path / f"{talk.conversation.id}.jsonl"
    lengths: list[int] = []
    for size in range(data.index(b"\n") + 1, len(data) + 1):
        cut.write_bytes(data[:size])
        log = read_log(cut, MAX_BYTES)
        messages = log.conversation.messages
        assert log.damage == ""
        assert messages[:-1] == whole[: max(0, len(messages) - 1)]
        assert_paired(messages)
        ends = [place for place, byte in enumerate(data[:size]) if byte == 10]
        assert log.size == ends[-1] + 1
        lengths.append(len(messages))
    assert lengths == sorted(lengths) and lengths[-1] == len(whole)


def assert_paired(messages: list[Message]) -> None:
    for place, message in enumerate(messages):
        if isinstance(message, Assistant) and message.calls:
            results = messages[place + 1]
            assert isinstance(results, ToolResults)
            assert [each.call_id for each in results.outcomes] == [call.id for call in message.calls]


@pytest.mark.requirement("I12.4.40")
@settings(max_examples=30)
@given(size=st.integers(0, 4_000))
async def test_a_cut_conversation_is_gone_on_with(
    tmp_path_factory: pytest.TempPathFactory, size: int
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    talk = await talked(folder)
    data = talk.path.read_bytes()
    talk.journal.close()
    talk.path.write_bytes(data[: max(size, data.index(b"\n") + 1)])
    talk.resume()
    before = list(talk.conversation.messages)
    await talk.ask("three?", calls(4), {"text": "3"})
    assert talk.reports == []
    assert reread(talk.path).messages == talk.conversation.messages
    assert talk.conversation.messages[: len(before)] == before
    assert_paired(talk.conversation.messages)


@pytest.mark.requirement("I12.4.41")
async def test_question_calls_and_each_result_are_in_the_log_while_the_others_run(tmp_path: Path) -> None:
    talk = LoggedTalk(tmp_path)
    seen: list[Conversation] = []

    async def work(arguments: Any) -> Any:
        if arguments["a"] == 2:
            with anyio.fail_after(BOUND_S):
                while b'"outcome"' not in talk.path.read_bytes():
                    await anyio.lowlevel.checkpoint()
            seen.append(reread(talk.path))
        return arguments["a"]

    await talk.ask("both?", calls(1, 2), {"text": "done"}, work=work)
    asked, called, results = seen[0].messages
    assert isinstance(asked, User) and asked.text == "both?"
    assert isinstance(called, Assistant) and len(called.calls) == 2
    assert isinstance(results, ToolResults)
    first, second = results.outcomes
    assert first.result["result"] == 1
    assert second.result["error_code"] == "cancelled" and "interrupted" in second.result["error"]
    assert second.name == "add"
    assert seen[0].beginnings == talk.conversation.beginnings
    assert reread(talk.path).messages == talk.conversation.messages


@pytest.mark.requirement("I12.4.41")
async def test_the_interrupted_call_has_the_same_one_result_after_every_resume(tmp_path: Path) -> None:
    talk = LoggedTalk(tmp_path)
    await talk.ask("one?", calls(1, 2), {"text": "1"})
    talk.journal.close()
    lines = talk.path.read_bytes().splitlines(keepends=True)
    last = max(place for place, line in enumerate(lines) if b'"outcome"' in line)
    talk.path.write_bytes(b"".join(lines[:last]))
    talk.resume()
    first = list(talk.conversation.messages)
    await talk.ask("two?", {"text": "2"})
    talk.resume()
    assert talk.conversation.messages[: len(first)] == first
    await talk.ask("three?", {"text": "3"})
    assert [type(each) for each in reread(talk.path).messages] == [
        User,
        Assistant,
        ToolResults,
        *(User, Assistant) * 2,
    ]


@pytest.mark.requirement("I12.4.41")
async def test_a_question_that_was_never_answered_is_dropped_from_log_and_memory_alike(
    tmp_path: Path,
) -> None:
    talk = LoggedTalk(tmp_path)
    with pytest.raises(ProviderError):
        await talk.ask("one?", FAILS)
    assert talk.conversation.messages == reread(talk.path).messages == []
    await talk.ask("two?", {"text": "2"})
    with pytest.raises(ProviderError):
        await talk.ask("three?", calls(1), FAILS)
    assert reread(talk.path).messages == talk.conversation.messages
    assert len(talk.conversation.messages) == 5


@pytest.mark.requirement("I12.4.42")
async def test_a_second_process_is_told_who_has_the_conversation(tmp_path: Path) -> None:
    talk = await talked(tmp_path)
    other = ConversationStore(tmp_path, MAX_BYTES)
    with pytest.raises(BusyError, match=rf"in use by process {os.getpid()} \(since .*--fork"):
        other.resumed(other.find("latest"), talk.reports.append)
    with pytest.raises(BusyError):
        other.delete(other.find("latest"))
    talk.journal.close()
    resumed = other.resumed(other.find("latest"), talk.reports.append)
    assert resumed.messages == talk.conversation.messages


@pytest.mark.requirement("I12.4.43")
async def test_a_damaged_line_is_set_aside_with_what_follows_and_said(tmp_path: Path) -> None:
    talk = await talked(tmp_path)
    talk.journal.close()
    lines = talk.path.read_bytes().splitlines(keepends=True)
    damaged = b"".join([*lines[:5], b"\0" * 40 + b"\n", *lines[5:]])
    talk.path.write_bytes(damaged)
    talk.resume()
    assert talk.reports[0].startswith(f"{talk.path} is damaged (line 6: it is no JSON)")
    assert talk.path.read_bytes() == b"".join(lines[:5])
    aside = next(each for each in beneath(tmp_path) if ".damaged-" in each.name)
    assert aside.read_bytes() == damaged and aside.name in talk.reports[0]


@pytest.mark.requirement("I12.4.43")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"outcome": {"call_id": "x", "name": "n", "result": {}}}, "an outcome of no call"),
        ({"message": {"role": "robot"}}, "message.role: must be one of"),
        ({"kept": 9}, "kept must be a number up to"),
        ({"later": {}}, "not a line of a conversation: later"),
        ([], "it is no object"),
        ({"state": {"usd": -1}}, "state.usd"),
        ({"at": 5, "kept": 0}, "at: must be a text"),
    ],
)
async def test_a_line_that_does_not_fit_is_damage(tmp_path: Path, line: Any, said: str) -> None:
    talk = LoggedTalk(tmp_path)
    await talk.ask("one?", {"text": "1"})
    talk.journal.close()
    with talk.path.open("ab") as file:
        file.write(json.dumps(line).encode() + b"\n")
    log = read_log(talk.path, MAX_BYTES)
    assert said in log.damage
    assert log.conversation.messages == talk.conversation.messages


@pytest.mark.requirement("I12.4.43")
@pytest.mark.parametrize(
    ("first", "said"),
    [
        (b"", "it has no end"),
        (b"{}\n", "it is no conversation's log"),
        (b'{"toolspan_conversation_log": 2, "id": "x"}\n', "a newer toolspan wrote it"),
        (b'{"toolspan_conversation_log": 1}\n', "id: must be a text"),
    ],
)
async def test_a_file_that_is_no_log_is_none_and_is_passed_over(
    tmp_path: Path, first: bytes, said: str
) -> None:
    path = tmp_path / "0123456789.jsonl"
    path.write_bytes(first)
    with pytest.raises(UsageError, match=said):
        read_log(path, MAX_BYTES)
    assert ConversationStore(tmp_path, MAX_BYTES).entries() == []


@pytest.mark.requirement("I12.4.44")
async def test_beyond_its_limit_a_conversation_goes_on_unsaved_and_that_is_said_once(tmp_path: Path) -> None:
    talk = LoggedTalk(tmp_path, max_bytes=4_000)
    await talk.ask("one?", {"text": "1"})
    before = reread(talk.path).messages
    assert await talk.ask("two?", {"text": "x" * 5_000}) == "x" * 5_000
    assert await talk.ask("three?", {"text": "y" * 5_000}) == "y" * 5_000
    assert talk.reports == [
        "the conversation cannot be saved any further: it would be larger than 4,000 bytes "
        "(conversations.max_bytes)"
    ]
    assert reread(talk.path).messages[: len(before)] == before
    with pytest.raises(UsageError, match=r"is larger than 500 bytes \(conversations.max_bytes\)"):
        small = ConversationStore(tmp_path, 500)
        small.read(small.find("latest"))


@pytest.mark.requirement("I12.4.44")
async def test_what_cannot_be_written_now_is_written_with_what_comes_next(tmp_path: Path) -> None:
    talk = LoggedTalk(tmp_path / "logs")
    (tmp_path / "logs").write_text("in the way")
    assert await talk.ask("one?", {"text": "1"}) == "1"
    assert len(talk.reports) == 1 and "cannot be saved any further" in talk.reports[0]
    (tmp_path / "logs").unlink()
    await talk.ask("two?", calls(1), {"text": "2"})
    assert reread(talk.path).messages == talk.conversation.messages
    assert len(talk.reports) == 1


@pytest.mark.requirement("I12.4.44")
@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are POSIX")
async def test_of_a_line_that_could_be_written_in_part_nothing_stays(tmp_path: Path) -> None:
    import resource

    talk = LoggedTalk(tmp_path)
    await talk.ask("one?", {"text": "1"})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(talk.path.read_bytes()) + 400, before[1]))
    try:
        assert await talk.ask("two?", {"text": "x" * 5_000}) == "x" * 5_000
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert talk.reports == ["the conversation cannot be saved any further: File too large"]
    await talk.ask("three?", {"text": "3"})
    assert reread(talk.path).messages == talk.conversation.messages


@pytest.mark.requirement("I12.4.45")
async def test_logs_are_for_their_owner_alone_and_leave_no_lock_behind(tmp_path: Path) -> None:
    talk = await talked(tmp_path / ".toolspan" / "conversations")
    talk.journal.close()
    modes = {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in beneath(tmp_path / ".toolspan")}
    own = {".mark": "0o600", ".gitignore": "0o600"}
    assert modes == {**own, "conversations": "0o700", talk.path.name: "0o600"}


@pytest.mark.requirement("I12.4.45")
async def test_an_id_from_a_file_is_never_a_path(tmp_path: Path) -> None:
    talk = LoggedTalk(tmp_path / "logs")
    talk.conversation.id = "../../away"
    talk.journal = talk.store.journal(talk.conversation, talk.reports.append)
    talk.conversation.journal = talk.journal
    await talk.ask("one?", {"text": "1"})
    talk.journal.close()
    assert [path.parent.name for path in beneath(tmp_path) if path.suffix == ".jsonl"] == ["logs"]
    assert talk.store.find("../../away").head.id == "../../away"


@pytest.mark.requirement("I12.4.45")
async def test_a_log_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    talk = await talked(tmp_path / "logs")
    talk.journal.close()
    elsewhere = talk.path.rename(tmp_path / "elsewhere")
    before = elsewhere.read_bytes()
    talk.path.symlink_to(elsewhere)
    assert talk.store.entries() == []
    with pytest.raises(OSError, match="it is a link"):
        hold(talk.path)
    assert elsewhere.read_bytes() == before


@pytest.mark.requirement("I12.4.45")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are POSIX")
async def test_a_pipe_among_the_logs_is_not_waited_for(tmp_path: Path) -> None:
    talk = await talked(tmp_path)
    os.mkfifo(tmp_path / "0123456789abcdef.jsonl")
    assert [each.head.id for each in talk.store.entries()] == [talk.conversation.id]


@pytest.mark.requirement("I12.4.41")
async def test_a_result_that_is_changed_after_its_call_is_written_again(tmp_path: Path) -> None:
    talk = await talked(tmp_path)
    asked, called, results, *_ = talk.conversation.messages
    assert isinstance(results, ToolResults)
    again = LoggedTalk(tmp_path)
    again.journal.update(again.conversation, [asked, called])
    for outcome in results.outcomes:
        again.journal.finished(outcome)
    changed = ToolResults(tuple(replace(each, structured="changed") for each in results.outcomes))
    again.journal.update(again.conversation, [asked, called, changed])
    assert reread(again.path).messages == [asked, called, changed]


@pytest.mark.requirement("I12.4.40")
async def test_what_was_rewritten_in_memory_is_rewritten_in_the_log(tmp_path: Path) -> None:
    talk = await talked(tmp_path)
    del talk.conversation.messages[1:]
    talk.conversation.messages.append(Assistant("another"))
    talk.conversation.refresh()
    await talk.ask("three?", {"text": "3"})
    assert reread(talk.path).messages == talk.conversation.messages
    assert reread(talk.path).beginnings == talk.conversation.beginnings


_lines = st.dictionaries(
    st.sampled_from(["message", "outcome", "kept", "beginning", "refreshed", "state", "whole", "note", "at"]),
    st.recursive(
        st.none() | st.booleans() | st.integers(-2, 9) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(
                    ["role", "text", "calls", "call_id", "name", "result", "kind", "model", "usd"]
                ),
                inner,
                max_size=3,
            )
        ),
        max_leaves=5,
    ),
    max_size=2,
)


@pytest.mark.requirement("I12.4.43")
@settings(max_examples=30)
@given(st.lists(_lines.map(lambda line: json.dumps(line).encode()) | st.binary(max_size=20), max_size=6))
async def test_whatever_lines_a_log_has_its_calls_are_paired_and_its_beginning_is_kept(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    talk = await talked(tmp_path_factory.mktemp("logs"))
    before = talk.path.read_bytes()
    talk.journal.close()
    with talk.path.open("ab") as file:
        file.writelines(line + b"\n" for line in lines)
    talk.resume()
    assert_paired(talk.conversation.messages)
    assert talk.path.read_bytes().startswith(before)
    await talk.ask("on?", {"text": "on"})
    assert reread(talk.path).messages == talk.conversation.messages
