"""What servers send that speak an API nearly: each is read where one reading is certain, and else told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolspan_bridge.formats import FormatError, StreamFailed, get_format
from toolspan_bridge.messages import Reply

Event = dict[str, Any]
ARGUMENTS = '{"q": "x"}'
FIRST, LAST = '{"q": ', '"x"}'
F, BOTH = ["f"], ["f", "g"]
DONE = b"data: [DONE]\n\n"


def sent(events: list[Event | bytes]) -> bytes:
    return b"".join(
        each
        if isinstance(each, bytes)
        else f"event: {each.get('type', 'message')}\ndata: {json.dumps(each)}\n\n".encode()
        for each in events
    )


def streamed(wire: str, *events: Event | bytes) -> Reply:
    parser = get_format(wire).parse_stream()
    try:
        parser.feed(sent([*events]))
    except FormatError:
        assert parser.end().incomplete
    return parser.end()


def chunk(delta: Event | None = None, finish: Any = None, **more: Any) -> Event:
    return {"id": "c", "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish, **more}]}


def piece(index: Any, call_id: Any, name: Any, arguments: Any) -> Event:
    function = {"name": name, "arguments": arguments}
    named = {"index": index, "id": call_id, "function": function}
    return chunk({"tool_calls": [{key: value for key, value in named.items() if value is not None}]})


END = chunk({}, "tool_calls")
MESSAGE = {"role": "assistant", "content": "Hi"}
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": ARGUMENTS}}
CHAT: dict[str, tuple[list[Event | bytes], str, list[str]]] = {
    "an index that is a text": ([piece("0", "c1", "f", FIRST), piece("0", None, None, LAST), END], "", F),
    "a new id for each piece": ([piece(0, "a1", "f", FIRST), piece(0, "a2", None, LAST), END], "", F),
    "a new id and the name for each piece": (
        [piece(0, "a1", "f", FIRST), piece(0, "a2", "f", LAST), END],
        "",
        F,
    ),
    "an empty id and the name for each piece": (
        [piece(0, "a", "f", FIRST), piece(0, "", "f", LAST), END],
        "",
        F,
    ),
    "all at 0, under two ids": (
        [piece(0, "a", "f", ARGUMENTS), piece(0, "b", "g", ARGUMENTS), END],
        "",
        BOTH,
    ),
    "all at -1": ([piece(-1, "a", "f", ARGUMENTS), piece(-1, "b", "g", ARGUMENTS), END], "", BOTH),
    "neither index nor id": (
        [piece(None, None, "f", ARGUMENTS), piece(None, None, "g", ARGUMENTS), END],
        "",
        BOTH,
    ),
    "the last first": ([piece(1, "b", "g", ARGUMENTS), piece(0, "a", "f", ARGUMENTS), END], "", BOTH),
    "in pieces, and then whole": (
        [piece(0, "a", "f", FIRST), piece(0, None, None, LAST), piece(0, "a", "f", ARGUMENTS), END],
        "",
        F,
    ),
    "in pieces, and then whole without a name": (
        [piece(0, "a", "f", FIRST), piece(0, None, None, LAST), piece(0, None, None, ARGUMENTS), END],
        "",
        F,
    ),
    "arguments as an object": ([piece(0, "a", "f", {"q": "x"}), END], "", F),
    "a call without a list": ([chunk({"tool_calls": {"index": 0, **CALL}}), END], "", F),
    "an entry that is null": ([chunk({"tool_calls": [None]}), chunk({"content": "Hi"}, "stop")], "Hi", []),
    "the API before": (
        [
            chunk({"function_call": {"name": "f", "arguments": FIRST}}),
            *(chunk({"function_call": {"arguments": LAST}}), chunk({}, "function_call"), DONE),
        ],
        "",
        F,
    ),
    "a message in place of a delta": (
        [{"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]}, DONE],
        "Hi",
        [],
    ),
    "a message with a call in place of a delta": (
        [{"choices": [{"index": 0, "message": {"tool_calls": [CALL]}, "finish_reason": "tool_calls"}]}],
        "",
        F,
    ),
    "a message that says all again in the end": (
        [chunk({"content": "H"}), chunk({"content": "i"}), chunk({}, "stop", message=MESSAGE), DONE],
        "Hi",
        [],
    ),
    "a message that grows beside its deltas": (
        [
            chunk({"content": "H"}, message={"content": "H"}),
            chunk({"content": "i"}, "stop", message=MESSAGE),
        ],
        "Hi",
        [],
    ),
    "a reason that is the word null": ([chunk({"content": "Hi"}, "null"), chunk({}, "stop")], "Hi", []),
    "a reason in each chunk": ([chunk({"content": "H"}, "stop"), chunk({"content": "i"}, "stop")], "Hi", []),
    "the reason of another kind of turn": ([piece(0, "a", "f", ARGUMENTS), chunk({}, "stop")], "", F),
    "a chunk without choices": (
        [{"object": "chat.completion.chunk"}, chunk({"content": "Hi"}), DONE],
        "Hi",
        [],
    ),
    "a ping": ([{"type": "ping"}, chunk({"content": "Hi"}), DONE], "Hi", []),
    "filters before": (
        [{"choices": [], "prompt_filter_results": [{}]}, chunk({"content": "Hi"}, "stop")],
        "Hi",
        [],
    ),
    "another choice": (
        [{"choices": [{"index": 1, "delta": {"content": "Ho"}}]}, chunk({"content": "Hi"}, "stop")],
        "Hi",
        [],
    ),
    "no last line": ([sent([chunk({"content": "Hi"}, "stop")]).rstrip()], "Hi", []),
    "a tag that ends thoughts first": ([chunk({"content": "</think>\n\nHi"}, "stop")], "Hi", []),
    "that tag after a reasoning field": (
        [chunk({"reasoning_content": "Hm."}), chunk({"content": "\n</think>\n\nHi"}, "stop")],
        "Hi",
        [],
    ),
}

TALK: Event = {"type": "message", "id": "m1", "role": "assistant"}
USE: Event = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "f", "arguments": ""}
WHOLE_USE = {**USE, "arguments": ARGUMENTS, "status": "completed"}


def talk(text: str) -> Event:
    return {**TALK, "status": "completed", "content": [{"type": "output_text", "text": text}]}


def added(place: int, item: Event) -> Event:
    return {"type": "response.output_item.added", "output_index": place, "item": item}


def done(place: int, item: Event) -> Event:
    return {"type": "response.output_item.done", "output_index": place, "item": item}


def more(kind: str, text: str, item: str | None = "m1", key: str = "delta", place: int = 0) -> Event:
    named = {"item_id": item} if item else {}
    return {"type": f"response.{kind}", **named, "output_index": place, "content_index": 0, key: text}


def ended(*output: Event, kind: str = "response.completed", status: str | None = "completed") -> Event:
    known = {"status": status} if status else {}
    return {"type": kind, "response": {**known, "output": [*output]}}


SPOKEN = [added(0, TALK), more("output_text.delta", "Hi")]
ASKED = [added(0, USE), more("function_call_arguments.delta", ARGUMENTS, "f1")]
RESPONSES: dict[str, tuple[list[Event | bytes], str, list[str]]] = {
    "no output in the end": ([*SPOKEN, done(0, talk("Hi")), {**ended(), "response": {}}], "Hi", []),
    "a done message without content": ([*SPOKEN, done(0, {**TALK, "content": []}), ended()], "Hi", []),
    "a last message without content": ([*SPOKEN, ended({**TALK, "content": []})], "Hi", []),
    "a done call without arguments": ([*ASKED, done(0, USE), ended(USE)], "", F),
    "a done call with empty arguments": ([*ASKED, done(0, {**USE, "arguments": "{}"}), ended()], "", F),
    "arguments whole alone": (
        [added(0, USE), more("function_call_arguments.done", ARGUMENTS, "f1", "arguments"), ended()],
        "",
        F,
    ),
    "arguments whole, and an empty call": (
        [
            added(0, USE),
            more("function_call_arguments.done", ARGUMENTS, "f1", "arguments"),
            done(0, USE),
            ended(),
        ],
        "",
        F,
    ),
    "arguments in pieces, and whole": (
        [
            *ASKED,
            more("function_call_arguments.done", ARGUMENTS, "f1", "arguments"),
            done(0, WHOLE_USE),
            ended(),
        ],
        "",
        F,
    ),
    "a text whole alone": ([added(0, TALK), more("output_text.done", "Hi", key="text"), ended()], "Hi", []),
    "a part whole alone": (
        [
            added(0, TALK),
            {**more("content_part.done", ""), "part": {"type": "output_text", "text": "Hi"}},
            ended(),
        ],
        "Hi",
        [],
    ),
    "a text in pieces, and whole": ([*SPOKEN, more("output_text.done", "Hi", key="text"), ended()], "Hi", []),
    "pieces of no item": ([more("output_text.delta", "Hi"), ended()], "Hi", []),
    "pieces of no item, and the item": ([more("output_text.delta", "Hi"), ended(talk("Hi"))], "Hi", []),
    "pieces without names": (
        [added(0, {**USE, "id": None}), more("function_call_arguments.delta", ARGUMENTS, None), ended()],
        "",
        F,
    ),
    "no call_id": ([added(0, {**USE, "call_id": None, "arguments": ARGUMENTS}), ended()], "", F),
    "another call_id in the end": ([*ASKED, done(0, {**WHOLE_USE, "call_id": "zz"}), ended()], "", F),
    "two calls of one id": (
        [
            *(*ASKED, done(0, WHOLE_USE), added(1, {**USE, "call_id": "c2", "name": "g"})),
            *(done(1, {**WHOLE_USE, "call_id": "c2", "name": "g"}), ended()),
        ],
        "",
        BOTH,
    ),
    "two messages of one id": (
        [*SPOKEN, done(0, talk("Hi")), added(1, TALK), done(1, talk("Ho")), ended(talk("Hi"), talk("Ho"))],
        "Hi\n\nHo",
        [],
    ),
    "another name for the end": ([*SPOKEN, ended(talk("Hi"), kind="response.done")], "Hi", []),
    "an end without a status": ([*SPOKEN, ended(talk("Hi"), status=None)], "Hi", []),
    "the whole as one event": (
        [{"object": "response", "status": "completed", "output": [talk("Hi")]}],
        "Hi",
        [],
    ),
    "an end that was trimmed": (
        [added(0, TALK), more("output_text.delta", "Hi "), ended(talk("Hi "))],
        "Hi ",
        [],
    ),
    "the question said again": (
        [
            added(0, {**TALK, "role": "user", "id": "u"}),
            more("output_text.delta", "Q", "u"),
            ended(talk("Hi")),
        ],
        "Hi",
        [],
    ),
}

START: Event = {"type": "message_start", "message": {"role": "assistant", "content": []}}
STOP = {"type": "message_stop"}
TEXT: Event = {"type": "text", "text": ""}
TOOL: Event = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
OTHER_TOOL = {**TOOL, "id": "t2", "name": "g"}


def begun(index: int, block: Event) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, key: str, piece: str) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, key: piece}}


def closed(index: int) -> Event:
    return {"type": "content_block_stop", "index": index}


def reason(word: str) -> Event:
    return {"type": "message_delta", "delta": {"stop_reason": word}}


HI = delta(0, "text_delta", "text", "Hi")
INPUT = delta(0, "input_json_delta", "partial_json", ARGUMENTS)
SAID = [START, begun(0, TEXT), HI, closed(0)]
USED = [begun(0, TOOL), INPUT, closed(0)]
MESSAGES: dict[str, tuple[list[Event | bytes], str, list[str]]] = {
    "a text that is not closed": ([*SAID[:3], reason("end_turn"), STOP], "Hi", []),
    "a text that is not begun": ([START, HI, closed(0), reason("end_turn"), STOP], "Hi", []),
    "all blocks at 0": ([*SAID, *USED, reason("tool_use"), STOP], "Hi", F),
    "two calls at 0": (
        [START, *USED, begun(0, OTHER_TOOL), INPUT, closed(0), reason("tool_use"), STOP],
        "",
        BOTH,
    ),
    "a block said again": ([*SAID, *SAID[1:], reason("end_turn"), STOP], "Hi", []),
    "input at once": (
        [START, begun(0, {**TOOL, "input": {"q": "x"}}), closed(0), reason("tool_use"), STOP],
        "",
        F,
    ),
    "input at once as a text": (
        [START, begun(0, {**TOOL, "input": ARGUMENTS}), closed(0), reason("tool_use"), STOP],
        "",
        F,
    ),
    "input at once and in pieces": (
        [START, begun(0, {**TOOL, "input": {"q": "x"}}), INPUT, closed(0), reason("tool_use"), STOP],
        "",
        F,
    ),
    "a call in a turn that ended by itself": ([START, *USED, reason("end_turn"), STOP], "", F),
    "a call in the words of another API": ([START, *USED, reason("tool_calls"), STOP], "", F),
    "an end in the words of another API": ([*SAID, reason("stop"), DONE], "Hi", []),
    "both ends": ([*SAID, reason("end_turn"), STOP, DONE], "Hi", []),
    "the reason at the start": (
        [{**START, "message": {"content": [], "stop_reason": "end_turn"}}, *SAID[1:], STOP],
        "Hi",
        [],
    ),
    "all content at the start": (
        [{**START, "message": {"content": [{"type": "text", "text": "Hi"}]}}, reason("end_turn"), STOP],
        "Hi",
        [],
    ),
    "the whole as one event": (
        [{"type": "message", "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"}],
        "Hi",
        [],
    ),
    "a content that is a text": ([{"type": "message", "content": "Hi", "stop_reason": "end_turn"}], "Hi", []),
}
WAYS = {"openai": CHAT, "openai-responses": RESPONSES, "anthropic": MESSAGES}


@pytest.mark.requirement("I25.6.1")
@pytest.mark.parametrize(("wire", "way"), [(wire, way) for wire in WAYS for way in WAYS[wire]])
def test_what_can_be_read_in_one_way_alone_is_read(wire: str, way: str) -> None:
    events, words, names = WAYS[wire][way]
    reply = streamed(wire, *events)
    assert (reply.message.text, [call.name for call in reply.message.calls]) == (words, names)
    assert all(call.arguments == {"q": "x"} for call in reply.message.calls)
    assert not reply.incomplete and reply.stop in ("stop", "other")


LINE = {"model": "m", "done": False}
LAST_LINE = {
    "model": "m",
    "done": True,
    "done_reason": "stop",
    "message": {"role": "assistant", "content": ""},
}


def line(*calls: Event, **message: Any) -> Event:
    return {**LINE, "message": {"role": "assistant", "content": "", **message, "tool_calls": [*calls]}}


def numbered(index: int, name: str) -> Event:
    return {"function": {"index": index, "name": name, "arguments": {"q": "x"}}}


@pytest.mark.requirement("I25.1.2")
@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ([line(numbered(0, "f")), line(numbered(0, "f"), numbered(1, "g"))], BOTH),
        ([line({"id": "a", **numbered(0, "f")}), line({"id": "a", **numbered(0, "f")})], F),
        ([line({"function": {"name": "f", "arguments": ARGUMENTS}})], F),
        ([line(numbered(0, "f")), line(numbered(1, "f"))], ["f", "f"]),
    ],
)
def test_ollama_s_calls_are_made_once_in_whatever_lines_they_come(
    lines: list[Event], names: list[str]
) -> None:
    parser = get_format("ollama").parse_stream()
    for each in (*lines, LAST_LINE):
        parser.feed(json.dumps(each).encode() + b"\n")
    calls = parser.end().message.calls
    assert [call.name for call in calls] == names
    assert all(call.arguments == {"q": "x"} for call in calls)


@pytest.mark.requirement("I25.2.1")
@pytest.mark.parametrize(
    ("event", "status"),
    [
        ({"error": "exploded"}, 500),
        ({"error": {"message": "exploded", "code": 503, "status": "UNAVAILABLE"}}, 503),
        ([{"error": {"message": "exploded", "code": 429, "status": "RESOURCE_EXHAUSTED"}}], 429),
    ],
)
def test_what_gemini_said_before_an_error_is_kept(event: Any, status: int) -> None:
    parser = get_format("gemini").parse_stream()
    half = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Half"}]}}]}
    parser.feed(sent([half]))
    with pytest.raises(StreamFailed, match="exploded") as failed:
        parser.feed(b"data: " + json.dumps(event).encode() + b"\n\n")
    reply = parser.end()
    assert (failed.value.error.status, reply.incomplete, reply.message.text) == (status, True, "Half")


TOLD: dict[str, tuple[str, list[Event | bytes]]] = {
    "Chat: a reason that is the word null, and no other": ("openai", [chunk({"content": "Hi"}, "null")]),
    "Chat: an event of no kind before an end without a reason": (
        "openai",
        [chunk({"content": "Half"}), {"weather": "bad"}, DONE],
    ),
    "Chat: a call with another index in each piece": (
        "openai",
        [piece(0, "a", "f", FIRST), piece(1, "a", None, LAST), END],
    ),
    "Responses: other arguments in the end": (
        "openai-responses",
        [*ASKED, done(0, WHOLE_USE), ended({**WHOLE_USE, "arguments": '{"q": "y"}'})],
    ),
    "Responses: arguments that are half an object, and done without any": (
        "openai-responses",
        [added(0, USE), more("function_call_arguments.delta", FIRST, "f1"), ended()],
    ),
    "Responses: no end": ("openai-responses", [*ASKED, done(0, WHOLE_USE), DONE]),
    "Responses: a call that failed": ("openai-responses", [ended({**WHOLE_USE, "status": "failed"})]),
    "Responses: an end of an unknown status": (
        "openai-responses",
        [*SPOKEN, ended(talk("Half"), status="expired")],
    ),
    "Responses: cancelled": ("openai-responses", [*SPOKEN, ended(kind="response.cancelled")]),
    "Messages: a call that is not closed": ("anthropic", [START, *USED[:2], reason("tool_use"), STOP]),
    "Messages: no reason": ("anthropic", [START, *USED, STOP]),
    "Messages: a block begun twice": (
        "anthropic",
        [START, begun(0, TEXT), HI, begun(0, TEXT), HI, closed(0), reason("end_turn"), STOP],
    ),
}


@pytest.mark.requirement("I25.6.1")
@pytest.mark.parametrize("way", TOLD)
def test_what_cannot_be_read_for_certain_is_no_whole_answer_and_no_call(way: str) -> None:
    wire, events = TOLD[way]
    reply = streamed(wire, *events)
    assert reply.incomplete or reply.stop in ("error", "malformed"), reply
    assert reply.message.calls == ()


@pytest.mark.requirement("I25.1.1")
@pytest.mark.parametrize(
    ("body", "words", "calls"),
    [
        ({"output": [{**TALK, "content": "Hi"}]}, "Hi", 0),
        ({"output": [], "output_text": "Hi"}, "Hi", 0),
        ({"output": [{**talk("Q"), "role": "user"}, talk("Hi")]}, "Hi", 0),
        ({"output": [WHOLE_USE, {**WHOLE_USE, "id": "f2"}]}, "", 1),
    ],
)
def test_a_whole_response_is_read_with_what_servers_add(body: Event, words: str, calls: int) -> None:
    reply = get_format("openai-responses").parse_reply({"status": "completed", **body})
    assert (reply.message.text, len(reply.message.calls), reply.stop) == (words, calls, "stop")


@pytest.mark.requirement("I25.2.1")
@pytest.mark.parametrize("status", ["failed", "expired", "cancelled", "incomplete"])
def test_a_whole_response_of_another_status_is_none(status: str) -> None:
    body = {"status": status, "error": None, "output": [talk("Half")]}
    if status == "failed":
        with pytest.raises(FormatError, match="no reason"):
            get_format("openai-responses").parse_reply(body)
    else:
        assert get_format("openai-responses").parse_reply(body).stop == "error"


@pytest.mark.requirement("I25.1.2")
def test_a_whole_chat_answer_may_hold_a_call_of_the_api_before() -> None:
    message = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": ARGUMENTS}}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "function_call"}]}
    (call,) = get_format("openai").parse_reply(body).message.calls
    assert (call.name, call.arguments) == ("f", {"q": "x"})
