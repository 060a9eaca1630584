"""Responses over several turns: whatever a turn is made of, the next request is one that the API accepts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.outcomes import succeeded
from tests.support.provider_rules import openai as chat_rules
from tests.support.provider_rules.openai_responses import check_request, check_state
from tests.support.wires.openai_responses import REASONING, SEARCH, answer, message, stream, whole
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.formats import openai, openai_responses
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import Message, Reply, Request, ToolResults, ToolSpec, User

pytestmark = pytest.mark.requirement("I11.1.10")

TOOL = ToolSpec("s", "t", "d", {"type": "object", "properties": {}})
NAMES = NameTable.of([TOOL])
(CALL,) = answer("", [("c1", "s__t", {"a": 1})])["output"]
SECOND = {**CALL, "id": "fc_9", "call_id": "c2"}
SAID = message("I look.", phase="commentary")
LATER = {**REASONING, "id": "rs_2", "encrypted_content": "gAAA+later"}
LOADED: dict[str, Any] = {"type": "namespace", "name": "s", "description": "d", "tools": []}
RUN = {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "container_id": "cntr_1"}
TURNS: dict[str, list[dict[str, Any]]] = {
    "reasoning and a call": [REASONING, CALL],
    "reasoning, a search, words and a call": [REASONING, SEARCH, SAID, CALL],
    "two calls, each with its reasoning": [REASONING, CALL, LATER, SECOND],
    "a call and then reasoning": [CALL, REASONING],
    "reasoning that was not encrypted": [{**REASONING, "encrypted_content": None}, SAID, CALL],
    "reasoning of which some was not encrypted": [REASONING, SAID, {**LATER, "encrypted_content": ""}, CALL],
    "a search that does not say what it did": [REASONING, {**SEARCH, "action": None}, CALL],
    "an id that comes twice": [SAID, {**SAID, "phase": "final_answer"}, CALL],
    "members that are only given": [
        {**REASONING, "status": None, "content": None},
        {**SAID, "content": [{"type": "output_text", "text": "I look."}]},
        {**CALL, "namespace": None, "parsed_arguments": {"a": 1}},
    ],
    "code that was run": [REASONING, {**RUN, "code": "1+1", "outputs": None}, CALL],
    "a tool that was searched for": [
        {"type": "tool_search_call", "id": "ts_1", "arguments": {"paths": ["s"]}, "execution": "server"},
        {"type": "tool_search_output", "id": "to_1", "tools": [LOADED], "created_by": "x"},
        {**CALL, "namespace": "s"},
    ],
}
STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


def read(body: dict[str, Any], *, streamed: bool) -> Reply:
    if not streamed:
        return openai_responses.parse_reply(body)
    parser = openai_responses.parse_stream()
    parser.feed(b"".join(stream(body)))
    return parser.end()


def asked(*messages: Message, model: str = "gpt-5.5") -> dict[str, Any]:
    body = openai_responses.render_request(Request(model, messages, tools=(TOOL,)), NAMES)
    check_request(body)
    return body


def results(reply: Reply) -> ToolResults:
    return ToolResults(tuple(succeeded(call_id=call.id) for call in reply.message.calls))


@STREAMED
@pytest.mark.parametrize("turn", TURNS)
def test_a_turn_is_answered_saved_loaded_and_gone_on_with_here_and_elsewhere(
    turn: str, streamed: bool
) -> None:
    first, last = whole(TURNS[turn]), whole([LATER | {"id": "rs_3"}, message("Done.") | {"id": "msg_9"}])
    reply = read(first, streamed=streamed)
    messages: list[Message] = [User("hi"), reply.message, results(reply)]
    second = asked(*messages)
    check_state(second["input"], [first])
    messages += [read(last, streamed=streamed).message, User("Go on.")]
    loaded = Conversation.from_json(Conversation(messages).to_json()).messages
    third = asked(*loaded)
    check_state(third["input"], [first, last])
    assert third["input"][: len(second["input"])] == second["input"], "nothing earlier is rewritten"
    elsewhere = openai.render_request(Request("m", tuple(loaded), tools=(TOOL,)), NAMES)
    chat_rules.check_request(elsewhere)
    assert asked(*loaded) == third, "and back"


@pytest.mark.parametrize("turn", ["reasoning and a call", "members that are only given"])
def test_a_turn_that_can_goes_back_with_its_state(turn: str) -> None:
    reply = read(whole(TURNS[turn]), streamed=False)
    sent = asked(User("hi"), reply.message, results(reply))["input"]
    assert sent[1]["encrypted_content"] == REASONING["encrypted_content"]
    assert sent[len(TURNS[turn])]["id"] == CALL["id"]


def test_an_id_that_an_earlier_turn_had_is_not_sent_again() -> None:
    one, two = (read(whole([SAID, call]), streamed=False) for call in (CALL, SECOND))
    sent = asked(User("hi"), one.message, results(one), User("More."), two.message, results(two))["input"]
    assert [item.get("id") for item in sent if item.get("phase")] == ["msg_1", None]


def test_a_model_that_does_not_reason_gets_no_reasoning_and_no_call_that_belongs_to_it() -> None:
    reply = read(whole([REASONING, SAID, CALL]), streamed=False)
    sent = asked(User("hi"), reply.message, results(reply), model="gpt-4o")["input"]
    assert [item.get("id") for item in sent] == [None] * 4
    assert sent[1] == {
        "type": "message",
        "role": "assistant",
        "content": "I look.",
        "phase": "commentary",
    }
    assert "encrypted" not in str(sent)


@STREAMED
@pytest.mark.parametrize(
    ("reason", "stop"), [("content_filter", "refusal"), ("max_output_tokens", "length"), ("", "error")]
)
def test_the_calls_of_a_turn_that_was_cut_off_are_not_made_and_its_words_go_back(
    reason: str, stop: str, streamed: bool
) -> None:
    for items in ([REASONING, SAID, CALL], [REASONING, SAID]):
        body = {**whole(items), "status": "incomplete", "incomplete_details": {"reason": reason}}
        reply = read(body, streamed=streamed)
        assert (reply.stop, reply.message.calls, reply.message.opaque) == (stop, (), None)
        sent = asked(User("hi"), reply.message, User("Go on."))["input"]
        check_state(sent, [body])
        assert sent[1] == {"type": "message", "role": "assistant", "content": "I look."}


@STREAMED
def test_the_calls_of_a_refusal_are_not_made(streamed: bool) -> None:
    body = whole([message("I cannot.", refuses=True), CALL])
    reply = read(body, streamed=streamed)
    assert (reply.stop, reply.message.calls) == ("refusal", ())
    assert [call.name for call in reply.cut_calls] == ["s__t"]
    asked(User("hi"), reply.message, User("Go on."))


@pytest.mark.requirement("I11.1.6")
@STREAMED
def test_a_steered_turn_is_paused_and_goes_back_as_it_is(streamed: bool) -> None:
    body = {**whole([REASONING, SEARCH]), "status": "incomplete", "incomplete_details": {"reason": "steered"}}
    reply = read(body, streamed=streamed)
    assert reply.stop == "pause"
    assert asked(User("hi"), reply.message)["input"][1:] == [REASONING, SEARCH]


def test_tokens_that_were_put_into_the_cache_are_counted() -> None:
    body = answer("hi")
    body["usage"]["input_tokens_details"]["cache_write_tokens"] = 5
    usage = read(body, streamed=False).usage
    assert (usage.cached_tokens, usage.written_tokens, usage.reasoning_tokens) == (3, 5, 2)
