"""Tools of the caller's own: offered to the model, never called here, and handed back at the end of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.local_tools import Performed, answered, box, events_of, outcomes, turn
from toolspan_bridge import Conversation, Question, ToolCallFinished, ToolCallStarted
from toolspan_bridge.messages import Assistant, ToolOutcome, ToolResults, ToolSpec, User
from toolspan_bridge.providers.catalog.scripted import Scripted

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I15.3.1")]

_LOCATION = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
_OPEN_DOOR = ToolSpec("", "open_door", "Opens the door of the caller's house.", _LOCATION)
_QUESTION = Question("Let me in.", "recorded", returned_tools=(_OPEN_DOOR,))


async def test_a_turn_that_calls_a_tool_of_the_caller_ends_the_run_with_that_call() -> None:
    ours = Performed("look")
    script = Scripted([turn(("open_door", {"place": "front"}), text="I open it.")])
    events = await events_of(_QUESTION, script, box(ours))

    answer = answered(events)
    assert (answer.stop, answer.broken, answer.content) == ("calls", False, "I open it.")
    (call,) = answer.returned_calls
    assert (call.name, call.arguments) == ("open_door", {"place": "front"})
    assert answer.as_dict()["returned_calls"] == [
        {"id": call.id, "tool": "open_door", "arguments": {"place": "front"}}
    ]
    assert len(script.requests) == 1
    assert not [event for event in events if isinstance(event, ToolCallStarted | ToolCallFinished)]


async def test_in_a_turn_with_calls_of_both_ours_are_made_and_the_callers_are_handed_back() -> None:
    ours, talk = Performed("look"), Conversation()
    script = Scripted([turn(("open_door", {"place": "front"}), ("look", {"at": "keys"}))])
    answer = answered(await events_of(_QUESTION, script, box(ours), talk))

    assert ours.calls == [{"at": "keys"}]
    assert [call.name for call in answer.returned_calls] == ["open_door"]
    assert [use.tool for use in answer.tool_calls] == ["look"]
    assert [outcome.name for outcome in outcomes(talk)] == ["look"]


async def test_a_question_that_resumes_goes_on_from_the_callers_result_without_a_word_of_the_user() -> None:
    talk = Conversation()
    script = Scripted([turn(("open_door", {"place": "front"})), {"text": "You are in."}])
    answer = answered(await events_of(_QUESTION, script, box(), talk))

    (call,) = answer.returned_calls
    talk.messages[-1] = ToolResults((ToolOutcome(call.id, "open_door", {"success": True, "result": "open"}),))
    answer = answered(await events_of(replace(_QUESTION, text="", resumes=True), script, box(), talk))

    assert (answer.content, answer.stop) == ("You are in.", "end")
    sent = script.requests[1].messages
    assert [type(message) for message in sent] == [User, Assistant, ToolResults]


async def test_a_callers_tool_may_have_the_name_of_one_of_ours_and_is_still_handed_back() -> None:
    ours = Performed("open_door")
    script = Scripted([turn(("open_door", {"place": "x"})), {"text": "done"}])
    answer = answered(await events_of(_QUESTION, script, box(ours)))
    assert [call.name for call in answer.returned_calls] == ["open_door"]
    assert ours.calls == []


async def test_more_calls_than_are_made_in_a_turn_and_arguments_that_do_not_fit_go_to_the_caller() -> None:
    calls = [("open_door", {"place": 5, "n": number}) for number in range(20)]
    answer = answered(await events_of(_QUESTION, Scripted([turn(*calls)]), box()))
    assert [call.arguments for call in answer.returned_calls] == [arguments for _, arguments in calls]


async def test_a_call_of_a_callers_tool_that_is_no_json_object_is_the_models_to_correct() -> None:
    wrong: dict[str, Any] = {"calls": [{"tool": "open_door", "arguments": "{not json"}]}
    script = Scripted([wrong, turn(("open_door", {"place": "front"}))])
    talk = Conversation()
    answer = answered(await events_of(_QUESTION, script, box(), talk))
    assert [call.arguments for call in answer.returned_calls] == [{"place": "front"}]
    assert [outcome.result["error_code"] for outcome in outcomes(talk)] == ["invalid_parameters"]


async def test_the_choice_of_a_tool_holds_for_the_first_turn_and_none_for_all() -> None:
    ours = Performed("look")
    (spec,) = box(ours).tools
    chosen = replace(_QUESTION, tool_choice=spec.key, parallel=False)
    script = Scripted([turn(("look", {})), {"text": "seen"}])
    await events_of(chosen, script, box(ours))
    assert [request.tool_choice for request in script.requests] == [spec.key, "auto"]
    assert [request.parallel for request in script.requests] == [False, False]

    script = Scripted([turn(("look", {}), ("open_door", {"place": "x"})), {"text": "no"}])
    answer = answered(await events_of(replace(_QUESTION, tool_choice="none"), script, box(ours)))
    assert [request.tool_choice for request in script.requests] == ["none", "none"]
    assert {use.result["error_code"] for use in answer.tool_calls} == {"tool_not_allowed"}
    assert len(ours.calls) == 1


async def test_where_tools_are_searched_the_callers_are_offered_beside_the_search() -> None:
    many = [Performed(f"tool_{number}") for number in range(9)]
    script = Scripted([{"text": "ok"}])
    await events_of(replace(_QUESTION, tools_offered=4), script, box(*many))
    assert {tool.name for tool in script.requests[0].tools} == {"search_tools", "open_door"}


async def test_with_our_tools_switched_off_the_callers_are_still_offered() -> None:
    ours = Performed("look")
    script = Scripted([{"text": "ok"}])
    await events_of(replace(_QUESTION, allowed_tools=()), script, box(ours))
    assert [tool.name for tool in script.requests[0].tools] == ["open_door"]


_BARE = replace(_QUESTION, allowed_tools=(), returns_malformed=True)


@pytest.mark.requirement("I15.3.120")
async def test_a_call_that_is_no_json_object_is_the_callers_as_it_was_written_where_it_asks_for_it() -> None:
    wrong: dict[str, Any] = {"calls": [{"tool": "open_door", "arguments": "{not json"}]}
    answer = answered(await events_of(replace(_QUESTION, returns_malformed=True), Scripted([wrong]), box()))
    assert [(call.name, call.arguments, call.raw) for call in answer.returned_calls] == [
        ("open_door", None, "{not json")
    ]


@pytest.mark.requirement("I15.3.120")
async def test_a_call_of_an_unknown_tool_is_the_callers_where_all_tools_are_its_own() -> None:
    unknown = turn(("break_window", {"n": 1}))
    alone = answered(await events_of(_BARE, Scripted([unknown]), box(Performed("look"))))
    assert [(call.name, call.arguments) for call in alone.returned_calls] == [("break_window", {"n": 1})]

    script = Scripted([unknown, {"text": "no"}])
    among_ours = answered(await events_of(_QUESTION, script, box(Performed("look"))))
    assert among_ours.returned_calls == ()
    assert [use.result["error_code"] for use in among_ours.tool_calls] == ["tool_not_found"]

    script = Scripted([turn(("open_door", {"place": "x"}), ("break_window", {})), {"text": "no"}])
    forbidden = answered(await events_of(replace(_BARE, tool_choice="none"), script, box()))
    assert forbidden.returned_calls == ()


@pytest.mark.requirement("I15.3.120")
async def test_a_reply_that_was_cut_off_after_a_callers_call_ends_as_cut_off_with_the_call() -> None:
    script = Scripted([turn(("open_door", {"place": "front"}), stop="length"), {"text": "again"}])
    answer = answered(await events_of(_QUESTION, script, box()))
    assert (answer.stop, [call.name for call in answer.returned_calls]) == ("length", ["open_door"])
    assert len(script.requests) == 1
