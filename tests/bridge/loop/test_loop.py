"""The loop with scripted turns and real tools, over a real subprocess."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.mcp_peers import call, raw
from tests.support.waiting import BOUND_S, until
from toolspan_bridge.errors import ProviderError
from toolspan_bridge.events import (
    Answer,
    End,
    Event,
    IterationStarted,
    Notice,
    Text,
    ToolCallFinished,
    ToolCallStarted,
    UsageReported,
)
from toolspan_bridge.loop import Question, answer, run
from toolspan_bridge.messages import (
    Assistant,
    Message,
    Reply,
    ToolCall,
    ToolResults,
    ToolSpec,
    User,
)
from toolspan_bridge.messages.deltas import Delta
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_bridge.toolbox import Toolbox

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I2.6.4")]

KEYS = ["content", "model", "provider", "tool_calls", "usage", "iterations"]
FAILURE = ["success", "error", "error_code", "user_action", "tool_name", "execution_time_ms"]


@asynccontextmanager
async def toolbox(**more: Any) -> AsyncIterator[Toolbox]:
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect([raw(**more)]) as box:
            yield box


def calling(*calls: Any, **more: Any) -> dict[str, Any]:
    return {"calls": [{"tool": tool, "arguments": arguments} for tool, arguments in calls], **more}


async def asked(turns: list[Any], **question: Any) -> tuple[Answer, Scripted]:
    provider = Scripted(turns)
    async with toolbox() as box:
        return await answer(Question("What now?", "m1", **question), provider, box), provider


def results(told: Answer) -> list[Any]:
    return [use.result.get("error_code") or use.result["result"] for use in told.tool_calls]


async def test_an_answer_without_calls_ends_the_loop_at_once() -> None:
    told, provider = await asked(
        [{"text": "Hello.", "usage": {"input_tokens": 3, "output_tokens": 1}}], system="Be kind."
    )
    usage = {
        "input_tokens": 3,
        "output_tokens": 1,
        "cached_tokens": 0,
        "reasoning_tokens": 0,
        "written_tokens": 0,
    }
    assert told.as_dict() == {
        "content": "Hello.",
        "model": "m1",
        "provider": "scripted",
        "tool_calls": [],
        "usage": usage,
        "iterations": 1,
    }
    assert provider.requests[0].system == "Be kind."
    assert provider.requests[0].messages == (User("What now?"),)
    assert provider.requests[0].tool_choice == "auto"


async def test_calls_are_made_their_results_appended_and_the_model_asked_again() -> None:
    turns = [
        calling(("echo", {"n": 1}), ("error_text", {}), usage={"input_tokens": 3}),
        calling(("two_texts", {}), usage={"input_tokens": 4}),
        {"text": "done", "usage": {"input_tokens": 5}},
    ]
    told, provider = await asked(turns)
    shown = told.as_dict()
    assert list(shown) == KEYS
    assert [list(use) for use in shown["tool_calls"]] == [["tool", "arguments", "result", "iteration"]] * 3
    assert [(use["tool"], use["iteration"]) for use in shown["tool_calls"]] == [
        ("echo", 1),
        ("error_text", 1),
        ("two_texts", 2),
    ]
    assert shown["tool_calls"][0]["arguments"] == {"n": 1}
    assert list(shown["tool_calls"][0]["result"]) == ["success", "result", "tool_name", "execution_time_ms"]
    assert list(shown["tool_calls"][1]["result"]) == FAILURE
    assert (shown["iterations"], shown["usage"]["input_tokens"]) == (3, 12)
    last = provider.requests[-1].messages
    assert [type(message) for message in last] == [User, Assistant, ToolResults, Assistant, ToolResults]
    assert json.dumps(shown)


async def test_the_calls_of_a_turn_run_side_by_side_and_their_results_keep_the_order() -> None:
    meeting = ("meet", {"count": 2})
    provider = Scripted([calling(meeting, ("echo", {}), meeting), {"text": "done"}])
    async with toolbox() as box:
        told = await answer(Question("?", "m"), provider, box)
    assert results(told) == ["met", "{}", "met"]


async def test_at_max_iterations_there_is_one_last_turn_without_tools() -> None:
    turns = [calling(("echo", {"n": n})) for n in range(2)]
    told, provider = await asked([*turns, {"text": "All I know."}], max_iterations=2)
    shown = told.as_dict()
    assert list(shown) == [*KEYS, "max_iterations_reached"]
    assert (shown["content"], shown["max_iterations_reached"], shown["iterations"]) == (
        "All I know.",
        True,
        2,
    )
    assert [request.tool_choice for request in provider.requests] == ["auto", "auto", "none"]


async def test_calls_in_the_last_turn_are_not_made_and_the_limit_is_said() -> None:
    turns = [calling(("echo", {"n": 1})), calling(("echo", {"n": 2}))]
    told, _ = await asked(turns, max_iterations=1)
    assert len(told.tool_calls) == 1
    assert told.content.startswith("I reached the maximum number of tool calls")


@pytest.mark.parametrize("raw_arguments", ["[1", '"text"', "[]", "5"])
async def test_malformed_arguments_go_back_to_the_model_as_an_error(raw_arguments: str) -> None:
    told, provider = await asked([calling(("echo", raw_arguments)), calling(("echo", {})), {"text": "done"}])
    (malformed, mended) = told.tool_calls
    assert malformed.arguments is None and malformed.result["error_code"] == "invalid_parameters"
    assert repr(raw_arguments) in malformed.result["error"]
    assert mended.result["success"]
    sent = provider.requests[1].messages[-1]
    assert isinstance(sent, ToolResults) and sent.outcomes[0].result == malformed.result


async def test_the_same_call_is_made_twice_and_stopped_the_third_time() -> None:
    same, other = ("echo", {"a": 1, "b": [2]}), ("echo", {"a": 2})
    reordered = ("echo", {"b": [2], "a": 1})
    told, _ = await asked([calling(other, same), calling(same), calling(reordered), {"text": "done"}])
    assert results(told)[3:] == ["repeated_call"]
    assert all(use.result["success"] for use in told.tool_calls[:3])
    assert "already called 2 times with the same arguments" in told.tool_calls[3].result["error"]
    assert told.as_dict()["repeated_calls_stopped"] is True


async def test_alternating_calls_without_end_are_stopped() -> None:
    turns = [calling(("echo", {"n": n % 2})) for n in range(6)]
    told, _ = await asked([*turns, {"text": "done"}], max_iterations=6)
    assert [use.result["success"] for use in told.tool_calls] == [True, True, True, True, False, False]
    assert told.max_iterations_reached and told.repeated_calls_stopped


async def test_an_unknown_tool_is_refused_and_near_names_are_listed() -> None:
    told, _ = await asked([calling(("raw__ecko", {}), ("RAW__ECHO", {})), {"text": "done"}])
    for use in told.tool_calls:
        assert use.result["error_code"] == "tool_not_found"
    assert told.tool_calls[0].result["error"] == "Tool 'raw__ecko' not found"
    assert "raw__echo" in told.tool_calls[0].result["user_action"]


async def test_a_tool_outside_the_allowed_list_is_not_shown_and_refused() -> None:
    turns = [calling(("raw__two_texts", {}), ("echo", {})), {"text": "done"}]
    told, provider = await asked(turns, allowed_tools=("echo",))
    assert [tool.name for tool in provider.requests[0].tools] == ["echo"]
    assert results(told) == ["tool_not_allowed", "{}"]
    assert told.tool_calls[0].result["error"] == "Tool 'two_texts' is not allowed here"


async def test_without_tools_a_call_is_refused() -> None:
    told, provider = await asked([calling(("raw__echo", {})), {"text": "done"}], allowed_tools=())
    assert provider.requests[0].tools == ()
    assert "there are none" in told.tool_calls[0].result["user_action"]


async def test_more_than_sixteen_calls_in_a_turn_are_not_made_but_answered() -> None:
    told, _ = await asked([calling(*(("echo", {"n": n}) for n in range(20))), {"text": "done"}])
    codes = [use.result.get("error_code") for use in told.tool_calls]
    assert codes == [None] * 16 + ["too_many_calls"] * 4


async def test_a_call_that_the_token_limit_cut_off_is_not_made() -> None:
    told, _ = await asked([calling(("echo", {"n": 1}), ("echo", {}), stop="length"), {"text": "done"}])
    assert results(told) == ['{"n": 1}', "cut_off"]


@pytest.mark.parametrize("ids", [("", ""), ("same", "same")])
async def test_missing_or_double_call_ids_still_give_one_result_for_each_call(ids: tuple[str, str]) -> None:
    calls = tuple(ToolCall(call_id, "raw__echo", {"n": n}) for n, call_id in enumerate(ids))
    provider = _Plain([Reply(Assistant("", calls)), Reply(Assistant("done"))])
    transcript: list[Message] = []
    async with toolbox() as box:
        told = await answer(Question("?", "m"), provider, box, transcript)
    assert results(told) == ['{"n": 0}', '{"n": 1}']
    assert isinstance(transcript[1], Assistant) and isinstance(transcript[2], ToolResults)
    sent = [call.id for call in transcript[1].calls]
    assert len(set(sent)) == 2
    assert sent == [outcome.call_id for outcome in transcript[2].outcomes]


class _Plain:
    """Gives its replies as they are."""

    name = "plain"
    format_name = ""
    searches_tools = True

    def __init__(self, replies: list[Reply]) -> None:
        self._replies = replies

    async def answer(self, request: Any) -> Reply:
        return self._replies.pop(0)

    async def stream(self, request: Any) -> AsyncGenerator[Delta | Reply]:
        yield self._replies.pop(0)

    async def aclose(self) -> None:
        """There is nothing to close."""


async def test_arguments_are_restored_from_the_provider_s_format_before_they_are_checked() -> None:
    class Wrapping(_Plain):
        format_name = "openai"

    schema = {"type": "object", "oneOf": [{"required": ["n"]}, {"required": ["m"]}]}
    call = ToolCall("1", "raw__echo", {"input": {"n": 1}})
    async with toolbox() as box:
        box.tools = (ToolSpec("raw", "echo", "", schema),)
        provider = Wrapping([Reply(Assistant("", (call,))), Reply(Assistant("done"))])
        told = await answer(Question("?", "m"), provider, box)
    assert told.tool_calls[0].arguments == {"n": 1}
    assert results(told) == ['{"n": 1}']


@pytest.mark.parametrize(
    ("stop", "said"),
    [("stop", "empty answer"), ("length", "raise max_tokens"), ("refusal", "refused to answer")],
)
async def test_an_empty_answer_ends_the_loop_and_is_noticed(stop: str, said: str) -> None:
    async with toolbox() as box:
        events = [event async for event in run(Question("?", "m"), Scripted([{"stop": stop}]), box)]
    (notice,) = (event for event in events if isinstance(event, Notice))
    assert said in notice.text
    assert isinstance(events[-1], End) and events[-1].answer.content == ""


async def test_events_come_in_order_and_the_end_is_last() -> None:
    turns = [calling(("echo", {}), ("nope", {}), text="Let me look."), {"text": "done"}]
    async with toolbox() as box:
        events = [event async for event in run(Question("?", "m"), Scripted(turns), box)]
    assert [type(event) for event in events] == [
        IterationStarted,
        UsageReported,
        Text,
        ToolCallStarted,
        ToolCallStarted,
        ToolCallFinished,
        ToolCallFinished,
        IterationStarted,
        UsageReported,
        Text,
        End,
    ]
    started = [event for event in events if isinstance(event, ToolCallStarted)]
    assert [(event.server, event.tool) for event in started] == [("raw", "echo"), ("", "nope")]


async def test_an_error_of_the_provider_comes_out_and_leaves_the_transcript_whole() -> None:
    transcript: list[Message] = []
    provider = Scripted([calling(("echo", {})), {"error": {"message": "overloaded", "status": 529}}])
    async with toolbox() as box:
        with pytest.raises(ProviderError, match="overloaded"):
            await answer(Question("?", "m"), provider, box, transcript)
    assert [type(message) for message in transcript] == [User, Assistant, ToolResults]


async def test_a_question_that_was_never_answered_leaves_no_trace() -> None:
    transcript: list[Message] = []
    async with toolbox() as box:
        with pytest.raises(ProviderError):
            await answer(Question("?", "m"), Scripted([]), box, transcript)
    assert transcript == []


async def test_what_was_said_before_is_sent_again() -> None:
    transcript: list[Message] = []
    provider = Scripted([{"text": "one"}, {"text": "two"}])
    async with toolbox() as box:
        await answer(Question("first", "m"), provider, box, transcript)
        await answer(Question("second", "m"), provider, box, transcript)
    sent = provider.requests[1].messages
    assert sent == (User("first"), Assistant("one"), User("second"))
    assert transcript == [*sent, Assistant("two")]


async def test_a_cancelled_run_leaves_one_result_for_each_call(tmp_path: Path) -> None:
    transcript: list[Message] = []
    hang = ("hang", {"note": str(tmp_path / "note")})
    provider = Scripted([calling(("echo", {}), hang, ("nope", {}))])
    async with toolbox() as box, anyio.create_task_group() as tasks:
        tasks.start_soon(answer, Question("?", "m"), provider, box, transcript)
        await until((tmp_path / "note.started").exists)
        assert (await call(box, "echo")).result["success"]
        tasks.cancel_scope.cancel()
    assert isinstance(transcript[-1], ToolResults)
    codes = [outcome.result.get("error_code") for outcome in transcript[-1].outcomes]
    assert codes == [None, "cancelled", "tool_not_found"]


async def test_a_consumer_that_leaves_early_ends_the_run() -> None:
    transcript: list[Message] = []
    seen: list[Event] = []
    async with toolbox() as box:
        events = run(Question("?", "m"), Scripted([calling(("echo", {}))]), box, transcript)
        async with aclosing(events):
            async for event in events:
                seen.append(event)
                if isinstance(event, ToolCallStarted):
                    break
    assert transcript == []
    assert isinstance(seen[-1], ToolCallStarted)


async def test_settings_reach_the_provider() -> None:
    _, provider = await asked([{"text": "hi"}], max_tokens=50, temperature=0.5)
    assert (provider.requests[0].max_tokens, provider.requests[0].temperature) == (50, 0.5)
    assert provider.requests[0].model == "m1"
