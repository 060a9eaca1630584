"""Conversations in the background: several turns, followers that come back, answers, cancelling, restarts."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import anyio
import pytest
import yaml

from tests.support.background import begun, conversations, until, written
from toolspan_bridge.conversation.log import read_log
from toolspan_bridge.messages import ToolResults
from toolspan_bridge.presets import PresetStore
from toolspan_bridge.sessions.attachments import file_part
from toolspan_bridge.web.conversations.limits import ConversationLimits
from toolspan_bridge.web.conversations.live import Posted
from toolspan_bridge.web.pages import Page
from toolspan_bridge.web.problems import Problem

pytestmark = [pytest.mark.long, pytest.mark.anyio, pytest.mark.usefixtures("state")]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return written(tmp_path)


def files_of(folder: Path) -> set[str]:
    """The endings of the files in ``folder`` that a conversation could be in."""
    return {path.suffix for path in folder.rglob("conversations/**/*")}


@pytest.mark.requirement("I15.1.21")
async def test_a_second_question_goes_on_with_the_first_and_all_is_shown_and_kept(config: Path) -> None:
    async with conversations(config) as engine:
        own = engine.of("local")
        talk = await begun(own, config)
        await own.post(talk, Posted("look there"))
        first = await until(own, talk, "run_ended")
        await own.post(talk, Posted("hello"))
        second = await until(own, talk, "run_ended", first[-1].id)
        shown = await own.show(talk)
    names = [event.name for event in first]
    assert names[0] == "run_started" and names[-1] == "run_ended"
    assert [name for name in names if name in ("tool_call", "tool_result", "answer")] == [
        "tool_call",
        "tool_result",
        "answer",
    ]
    assert {event.data["run"] for event in first}.isdisjoint({event.data["run"] for event in second})
    assert [event.id for event in [*first, *second]] == [*range(first[0].id, second[-1].id + 1)]
    assert [(each["role"], each["text"]) for each in shown["messages"]] == [
        ("user", "look there"),
        ("assistant", ""),
        ("assistant", "It is there."),
        ("user", "hello"),
        ("assistant", "Hello."),
    ]
    assert shown["messages"][1]["tool_calls"][0]["result"]["result"] == "seen"
    assert (shown["title"], shown["run"], shown["last_event_id"]) == ("look there", None, second[-1].id)


@pytest.mark.requirement("I15.1.22")
async def test_a_follower_that_comes_back_loses_and_doubles_nothing_and_one_too_late_is_told(
    config: Path,
) -> None:
    async with conversations(config, ConversationLimits(events=20)) as engine:
        own = engine.of("local")
        talk = await begun(own, config)
        await own.post(talk, Posted("count"))
        seen = await until(own, talk, "text_delta")
        again = await until(own, talk, "run_ended", seen[-1].id)
        pieces = [event.data["text"] for event in [*seen, *again] if event.name == "text_delta"]
        for _ in range(2):
            await own.post(talk, Posted("look"))
            await until(own, talk, "run_ended")
        late = await until(own, talk, "reset", seen[0].id)
        later = await until(own, talk, "reset", 5)
    assert "".join(pieces) == "one two three"
    assert len({event.id for event in [*seen, *again]}) == len(seen) + len(again)
    assert late[0].name == later[0].name == "reset"
    assert late[0].data == {"conversation": talk, "read": f"/api/conversations/{talk}"}


@pytest.mark.requirement("I15.1.23")
async def test_an_approval_is_answered_once_by_whoever_is_first(config: Path) -> None:
    async with conversations(config) as engine:
        own = engine.of("local")
        talk = await begun(own, config)
        await own.post(talk, Posted("remove it"))
        asked = (await until(own, talk, "approval_requested"))[-1]
        assert (asked.data["tool_name"], asked.data["tool_input"]) == ("remove", {"place": "x"})
        assert (await own.show(talk))["pending"][0]["request"] == asked.data["request"]
        with pytest.raises(Problem) as wrong:
            await own.answer(talk, asked.data["request"], {"decision": "allow_once", "arguments": {}})
        assert wrong.value.status == 422
        await own.answer(talk, asked.data["request"], {"decision": "allow_once"})
        with pytest.raises(Problem) as twice:
            await own.answer(talk, asked.data["request"], {"decision": "deny"})
        rest = await until(own, talk, "run_ended", asked.id)
        with pytest.raises(Problem) as unknown:
            await own.answer(talk, "0" * 16, {"decision": "deny"})
    answers = [event.data for event in rest if event.name == "approval_answered"]
    assert [(each["request"], each["allowed"]) for each in answers] == [(asked.data["request"], True)]
    (result,) = [event.data["result"] for event in rest if event.name == "tool_result"]
    assert result["success"] and "x" in str(result["result"])
    assert (twice.value.status, unknown.value.status) == (409, 404)


@pytest.mark.requirement("I24.2.1")
async def test_a_call_that_is_changed_is_shown_again_as_it_will_run_before_it_is_made(config: Path) -> None:
    async with conversations(config) as engine:
        own = engine.of("local")
        talk = await begun(own, config)
        await own.post(talk, Posted("remove it"))
        first = (await until(own, talk, "approval_requested"))[-1]
        assert '"place": "x"' in first.data["preview"]["sections"][0]["text"]
        changed = {"decision": "allow_always", "arguments": {"place": "y\u202e"}}
        await own.answer(talk, first.data["request"], changed)
        again = await until(own, talk, "approval_requested", first.id)
        assert not [event for event in again if event.name == "tool_result"]
        assert next(e.data for e in again if e.name == "approval_answered")["asked_again"] is True
        second = again[-1]
        assert second.data["tool_input"] == {"place": "y\u202e"}
        assert '"place": "y\\u202e"' in second.data["preview"]["sections"][0]["text"]
        await own.answer(talk, second.data["request"], {"decision": "allow_once"})
        rest = await until(own, talk, "run_ended", second.id)
    (result,) = [event.data["result"] for event in rest if event.name == "tool_result"]
    assert result["success"] and "y" in str(result["result"])


@pytest.mark.requirement("I15.1.24")
async def test_a_servers_question_is_answered_by_what_is_posted(config: Path) -> None:
    async with conversations(config) as engine:
        own = engine.of("local")
        talk = await begun(own, config)
        await own.post(talk, Posted("book it"))
        asked = (await until(own, talk, "elicitation_requested"))[-1]
        assert asked.data["message"] == "Which day?"
        answer = {"action": "accept", "content": {"day": "Monday"}}
        await own.answer(talk, asked.data["request"], answer)
        rest = await until(own, talk, "run_ended", asked.id)
    (result,) = [event.data["result"] for event in rest if event.name == "tool_result"]
    assert result["result"] == "booked Monday"


@pytest.mark.requirement("I15.1.25")
async def test_cancelling_within_a_tool_call_leaves_a_conversation_that_goes_on(config: Path) -> None:
    async with conversations(config) as engine:
        own = engine.of("local")
        talk = await begun(own, config)
        await own.post(talk, Posted("wait long"))
        called = await until(own, talk, "tool_call")
        with pytest.raises(Problem) as second:
            await own.post(talk, Posted("hello"))
        assert (await own.cancel(talk))["cancelled"]
        assert not (await own.cancel(talk))["cancelled"]
        rest = await until(own, talk, "run_ended", called[-1].id)
        await own.post(talk, Posted("hello"))
        after = await until(own, talk, "run_ended", rest[-1].id)
        shown = await own.show(talk)
    assert (second.value.status, second.value.code) == (409, "run_active")
    assert [event.name for event in rest[-2:]] == ["cancelled", "run_ended"]
    assert [event.data["content"] for event in after if event.name == "answer"] == ["Hello."]
    assert shown["messages"][1]["tool_calls"][0]["result"]["error_code"] == "cancelled"


@pytest.mark.requirement("I15.1.26")
async def test_what_was_asked_at_the_end_of_the_server_is_denied_and_all_is_there_after_a_restart(
    config: Path,
) -> None:
    async with conversations(config) as engine:
        own = engine.of("local")
        talk = await begun(own, config)
        await own.post(talk, Posted("remove it"))
        asked = await until(own, talk, "approval_requested")
        follower = await own.events(talk, asked[-1].id)
    told = [event async for event in follower]
    denied = next(event.data for event in told if event.name == "approval_answered")
    assert (denied["allowed"], told[-1].name) == (False, "run_ended")
    async with conversations(config) as engine:
        own = engine.of("local")
        shown = await own.show(talk)
        with pytest.raises(Problem) as late:
            await own.answer(talk, asked[-1].data["request"], {"decision": "allow_once"})
        events = await until(own, talk, "reset", asked[-1].id)
        await own.post(talk, Posted("hello"))
        await until(own, talk, "run_ended")
    assert late.value.status == 404
    assert (shown["pending"], events[0].id > told[-1].id) == ([], True)
    outcome = shown["messages"][1]["tool_calls"][0]["result"]
    assert outcome["error_code"] in ("cancelled", "denied")


@pytest.mark.requirement("I15.1.27")
async def test_a_conversation_of_another_principal_is_not_there(config: Path) -> None:
    async with conversations(config) as engine:
        talk = await begun(engine.of("local"), config)
        other = engine.of("token other")
        for refused in (
            other.show(talk),
            other.post(talk, Posted("hello")),
            other.events(talk, None),
            other.delete(talk),
            other.fork(talk, None),
            other.answer(talk, "x", {}),
        ):
            with pytest.raises(Problem) as problem:
                await refused
            assert problem.value.status == 404
        assert (await other.list(Page(limit=None, cursor=None)))["conversations"] == []


@pytest.mark.requirement("I15.1.28")
async def test_the_last_question_is_asked_again_and_a_copy_goes_its_own_way(config: Path) -> None:
    async with conversations(config) as engine:
        own = engine.of("local")
        talk = await begun(own, config, title="Mine")
        for text in ("look", "hello"):
            await own.post(talk, Posted(text))
            await until(own, talk, "run_ended")
        await own.retry(talk, "")
        again = await until(own, talk, "run_ended")
        copy = await own.fork(talk, 1)
        exported = await own.export(talk, "markdown")
        await own.delete(talk)
        listed = await own.list(Page(limit=None, cursor=None))
    assert [each["text"] for each in copy["messages"]] == ["look", "", "It is there."]
    assert copy["title"] == "Mine" and "Hello." in exported
    assert again[0].data == {"run": again[-1].data["run"], "again": True}
    assert [each["id"] for each in listed["conversations"]] == [copy["id"]]


@pytest.mark.requirement("I15.1.21")
async def test_a_text_goes_with_a_question_and_what_a_model_does_not_take_is_refused(config: Path) -> None:
    async with conversations(config) as engine:
        own = engine.of("local")
        talk = await begun(own, config)
        await own.post(talk, Posted("hello", (file_part(b"notes", "notes.txt"),)))
        await until(own, talk, "run_ended")
        picture = file_part(b"\x89PNG\r\n\x1a\n" + b"0" * 60, "a.png")
        await own.post(talk, Posted("hello", (picture,), "offline/keyword"))
        refused = await until(own, talk, "run_ended")
        shown = await own.show(talk)
    (attached,) = shown["messages"][0]["attachments"]
    assert (attached["name"], attached["bytes"]) == ("notes.txt", 5)
    assert [event.data["code"] for event in refused if event.name == "error"] == ["usage"]
    assert len(shown["messages"]) == 2


@pytest.mark.requirement("I15.1.29")
async def test_lists_come_in_pages_and_details_can_be_changed(config: Path) -> None:
    async with conversations(config) as engine:
        own = engine.of("local")
        made = [await begun(own, config) for _ in range(5)]
        found: list[str] = []
        cursor: str | None = None
        while True:
            page = await own.list(Page(limit=2, cursor=cursor))
            found += [each["id"] for each in page["conversations"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        changed = await own.change(made[0], {"title": "Named", "tools": ("look",)})
        with pytest.raises(Problem) as wrong:
            await own.list(Page(limit=None, cursor="no cursor"))
        searched = [await own.list(Page(limit=None), text) for text in ("nAME", "nothing")]
        await own.post(made[0], Posted("remove it"))
        events = await until(own, made[0], "run_ended")
    assert sorted(found) == sorted(made)
    assert [[each["id"] for each in page["conversations"]] for page in searched] == [[made[0]], []]
    assert (changed["title"], changed["tools"], wrong.value.status) == ("Named", ["look"], 400)
    (result,) = [event.data["result"] for event in events if event.name == "tool_result"]
    assert not result["success"]


@pytest.mark.requirement("I15.1.30")
async def test_without_saving_nothing_is_on_disk_and_conversations_go_on(tmp_path: Path) -> None:
    config = written(tmp_path, conversations={"save": False})
    async with conversations(config) as engine:
        own = engine.of("local")
        talk = await begun(own, config)
        for text in ("look", "hello"):
            await own.post(talk, Posted(text))
            await until(own, talk, "run_ended")
        shown = await own.show(talk)
        assert (await own.fork(talk, None))["messages"] == shown["messages"]
    assert [each["text"] for each in shown["messages"]] == ["look", "", "It is there.", "hello", "Hello."]
    assert files_of(tmp_path) & {".jsonl", ".json"} == set()


@pytest.mark.requirement("I15.1.31")
async def test_limits_are_told_and_what_fails_is_an_event(config: Path) -> None:
    async with conversations(config, ConversationLimits(own_running=1, text=20)) as engine:
        own = engine.of("local")
        one, other = await begun(own, config), await begun(own, config)
        await own.post(one, Posted("wait"))
        with pytest.raises(Problem) as full:
            await own.post(other, Posted("hello"))
        with pytest.raises(Problem) as long:
            await own.post(other, Posted("x" * 21))
        await own.cancel(one)
        await own.post(other, Posted("hello", model="scripted/nowhere.yaml"))
        events = await until(own, other, "run_ended")
        await own.post(other, Posted("hello"))
        assert (await until(own, other, "run_ended"))[-1].data["state"] == "answered"
    assert (full.value.status, long.value.status) == (429, 422)
    (error,) = [event.data for event in events if event.name == "error"]
    assert error["code"] == "usage" and "nowhere.yaml" in error["message"]
    assert events[-1].data["state"] == "failed"


@pytest.mark.requirement("I15.1.26")
async def test_the_log_has_one_result_for_each_call_whenever_it_was_cancelled(config: Path) -> None:
    async with conversations(config) as engine:
        own = engine.of("local")
        talk = await begun(own, config)
        await own.post(talk, Posted("wait"))
        await until(own, talk, "tool_call")
    (path,) = config.parent.rglob(f"{talk}.jsonl")
    log = read_log(path, 10_000_000)
    results = [each for each in log.conversation.messages if isinstance(each, ToolResults)]
    assert [len(each.outcomes) for each in results] == [1] and log.interrupted == ()


@pytest.mark.requirement("I15.2.15")
async def test_reasoning_and_the_names_of_files_are_kept_with_their_messages(config: Path) -> None:
    turns = [{"reasoning": "They greet.", "text": "Good day."}]
    (config.parent / "script.yaml").write_text(yaml.safe_dump({"answers": [{"turns": turns}]}))
    async with conversations(config) as engine:
        own = engine.of("local")
        talk = await begun(own, config)
        await own.post(talk, Posted("hello", (file_part(b"A note.", "note.txt"),)))
        events = await until(own, talk, "run_ended")
        question, answer = (await own.show(talk))["messages"]
    assert (answer["text"], answer["reasoning"]) == ("Good day.", "They greet.")
    (began,) = [event.data for event in events if event.name == "run_started"]
    assert began["attachments"] == question["attachments"] and len(question["attachments"]) == 1


@pytest.mark.long
@pytest.mark.requirement("I15.2.17")
async def test_a_preset_with_the_default_tools_has_the_calculator_whatever_servers_there_are(
    config: Path,
) -> None:
    PresetStore("local").create("Usual", enabled_tools=["web_search", "calculator"])
    call = {"tool": "calculator", "arguments": {"expression": "6 * 7"}}
    turns = [{"calls": [call]}, {"text": "It is 42."}]
    (config.parent / "script.yaml").write_text(yaml.safe_dump({"answers": [{"turns": turns}]}))
    async with conversations(config) as engine:
        own = engine.of("local")
        talk = await begun(own, config, preset="Usual")
        await own.post(talk, Posted("how much?"))
        events = await until(own, talk, "run_ended")
    (result,) = [event.data["result"] for event in events if event.name == "tool_result"]
    assert result["result"]["result"] == 42
    assert [event.data["state"] for event in events if event.name == "run_ended"] == ["answered"]


@pytest.mark.requirement("I24.5.1")
async def test_who_has_used_up_their_bytes_copies_and_asks_no_more_and_others_go_on(config: Path) -> None:
    limit(config, user_bytes=65_536)
    async with conversations(config) as engine:
        full, other = engine.of("token full"), engine.of("token other")
        talk = await begun(full, config)
        await full.post(talk, Posted("hello"))
        await until(full, talk, "run_ended")
        theirs = await begun(other, config)
        copies: list[str] = []

        async def copied() -> None:
            with suppress(Problem):
                copies.append((await full.fork(talk, None))["id"])

        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(copied)
        assert 3 <= len(copies) <= 8
        assert taken(config.parent, "*") <= 65_536 + 3 * 4_096
    async with conversations(config) as engine:  # which began again
        full, other = engine.of("token full"), engine.of("token other")
        for refused in (full.fork(talk, None), full.post(talk, Posted("hello")), begun(full, config)):
            with pytest.raises(Problem, match=r"\(conversations\.user_bytes\): delete some") as problem:
                await refused
            assert (problem.value.status, problem.value.code) == (507, "storage_full")
        await other.post(theirs, Posted("hello"))
        await until(other, theirs, "run_ended")
        assert (await other.fork(theirs, None))["messages"]
        for each in copies:
            await full.delete(each)
        await full.post(talk, Posted("hello"))
        await until(full, talk, "run_ended")


@pytest.mark.requirement("I24.5.1")
async def test_copies_count_as_conversations(config: Path) -> None:
    async with conversations(config, ConversationLimits(own=2)) as engine:
        own = engine.of("local")
        talk = await begun(own, config)
        await own.fork(talk, None)
        for refused in (own.fork(talk, None), begun(own, config)):
            with pytest.raises(Problem) as problem:
                await refused
            assert (problem.value.status, problem.value.code) == (409, "too_many_conversations")
        await begun(engine.of("token other"), config)


def limit(config: Path, **settings: int) -> None:
    """Write the ``settings`` of conversations into ``config``."""
    document = yaml.safe_load(config.read_text())
    config.write_text(yaml.safe_dump({**document, "conversations": settings}))


def taken(folder: Path, of: str) -> int:
    """The bytes on the disk of the largest of the folders of principals."""
    folders = [each for each in folder.rglob(f"of-{of}") if each.is_dir()]
    sizes = [
        sum(-(-path.stat().st_size // 4_096) * 4_096 for path in each.rglob("*") if path.is_file())
        for each in folders
    ]
    return max(sizes)
