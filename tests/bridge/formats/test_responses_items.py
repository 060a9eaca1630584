"""The items of a streamed Responses answer, however a server numbers, names and repeats them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolspan_bridge.formats import get_format
from toolspan_bridge.messages import Reply
from toolspan_bridge.messages.deltas import CallDelta, Delta, TextDelta

pytestmark = pytest.mark.requirement("I25.1.1")

Event = dict[str, Any]


def call(city: str, call_id: str | None = "c1", item_id: str | None = "fc_1") -> Event:
    named = {"call_id": call_id} if call_id else {}
    known = {"id": item_id} if item_id else {}
    return {
        "type": "function_call",
        **known,
        **named,
        "name": "weather",
        "arguments": json.dumps({"city": city}),
        "status": "completed",
    }


def message(text: str, item_id: str = "msg_1") -> Event:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": item_id, "role": "assistant", "status": "completed", "content": content}


def thought(item_id: str = "rs_1") -> Event:
    return {"type": "reasoning", "id": item_id, "summary": []}


def added(place: int | None, item: Event) -> Event:
    begun = {**item, "arguments": ""} if "arguments" in item else {**item, "content": []}
    return {"type": "response.output_item.added", "output_index": place, "item": begun}


def done(place: int | None, item: Event) -> Event:
    return {"type": "response.output_item.done", "output_index": place, "item": item}


def piece(place: int | None, item: Event, text: str) -> Event:
    kind = "function_call_arguments" if "arguments" in item else "output_text"
    named = {"item_id": item["id"]} if "id" in item else {}
    return {"type": f"response.{kind}.delta", "output_index": place, **named, "delta": text}


def completed(*items: Event) -> Event:
    response = {"id": "r", "status": "completed", "output": [*items], "usage": {}}
    return {"type": "response.completed", "response": response}


def read(*events: Event) -> tuple[Reply, list[Delta]]:
    parser = get_format("openai-responses").parse_stream()
    sent = b"".join(b"event: e\ndata: " + json.dumps(event).encode() + b"\n\n" for event in events)
    deltas = parser.feed(sent)
    return parser.end(), deltas


OSLO, ROME = call("Oslo"), call("Rome", "c2", "fc_2")
TALK, MORE = message("I look."), message("And more.", "msg_2")
WAYS: dict[str, tuple[list[Event], list[str], str]] = {
    "numbered as in the end": (
        [added(0, OSLO), done(0, OSLO), added(1, ROME), done(1, ROME), completed(OSLO, ROME)],
        ["Oslo", "Rome"],
        "",
    ),
    "at 1, in the end at 0": ([added(1, OSLO), done(1, OSLO), completed(OSLO)], ["Oslo"], ""),
    "with a thought that only the end has": (
        [added(0, OSLO), done(0, OSLO), completed(thought(), OSLO)],
        ["Oslo"],
        "",
    ),
    "two calls at 0": (
        [added(0, OSLO), done(0, OSLO), added(0, ROME), done(0, ROME), completed(OSLO, ROME)],
        ["Oslo", "Rome"],
        "",
    ),
    "two calls at 0, one within the other": (
        [
            *(added(0, OSLO), added(0, ROME), piece(0, OSLO, OSLO["arguments"])),
            *(piece(0, ROME, ROME["arguments"]), done(0, ROME), done(0, OSLO), completed(OSLO, ROME)),
        ],
        ["Oslo", "Rome"],
        "",
    ),
    "a message and a call at 0": (
        [
            *(added(0, TALK), piece(0, TALK, "I look."), done(0, TALK)),
            *(added(0, OSLO), done(0, OSLO), completed(TALK, OSLO)),
        ],
        ["Oslo"],
        "I look.",
    ),
    "a message at 1, in the end at 0": (
        [added(1, TALK), piece(1, TALK, "I look."), done(1, TALK), completed(TALK)],
        [],
        "I look.",
    ),
    "two messages at 0": (
        [added(0, TALK), done(0, TALK), added(0, MORE), done(0, MORE), completed(TALK, MORE)],
        [],
        "I look.\n\nAnd more.",
    ),
    "another id for each event": (
        [
            *(added(0, {**OSLO, "id": "a"}), piece(0, {**OSLO, "id": "b"}, OSLO["arguments"])),
            *(done(0, {**OSLO, "id": "c"}), completed({**OSLO, "id": "d"})),
        ],
        ["Oslo"],
        "",
    ),
    "another id for each event of a message": (
        [
            *(added(0, {**TALK, "id": "a"}), piece(0, {**TALK, "id": "b"}, "I look.")),
            *(done(0, {**TALK, "id": "c"}), completed({**TALK, "id": "d"})),
        ],
        [],
        "I look.",
    ),
    "other call ids in the end": (
        [done(0, OSLO), done(1, ROME), completed({**OSLO, "call_id": "x"}, {**ROME, "call_id": "y"})],
        ["Oslo", "Rome"],
        "",
    ),
    "without numbers": (
        [
            *(added(None, TALK), piece(None, TALK, "I look."), done(None, TALK)),
            *(added(None, OSLO), done(None, OSLO), completed(TALK, OSLO)),
        ],
        ["Oslo"],
        "I look.",
    ),
    "without any name": (
        [
            *(added(0, call("Oslo", None, None)), done(0, call("Oslo", None, None))),
            *(added(1, call("Rome", None, None)), done(1, call("Rome", None, None))),
            completed(call("Oslo", None, None), call("Rome", None, None)),
        ],
        ["Oslo", "Rome"],
        "",
    ),
    "only in the end": ([completed(TALK, OSLO, ROME)], ["Oslo", "Rome"], "I look."),
    "a call that only the end has": ([done(0, OSLO), completed(OSLO, ROME)], ["Oslo", "Rome"], ""),
    "nothing in the end": ([done(0, TALK), done(1, OSLO), completed()], ["Oslo"], "I look."),
    "each event twice": (
        [
            *(added(0, OSLO), added(0, OSLO), done(0, OSLO), done(0, OSLO)),
            *(added(1, ROME), done(1, ROME), done(1, ROME), completed(OSLO, ROME)),
        ],
        ["Oslo", "Rome"],
        "",
    ),
    "twice in the end": ([done(0, OSLO), completed(OSLO, OSLO)], ["Oslo"], ""),
    "the same call under two ids": (
        [done(0, OSLO), done(1, {**OSLO, "call_id": "c2", "id": "fc_2"}), completed()],
        ["Oslo", "Oslo"],
        "",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_call_is_made_once_and_every_text_said_once(way: str) -> None:
    events, cities, words = WAYS[way]
    reply, deltas = read(*events)
    assert (reply.stop, reply.incomplete) == ("stop", False)
    made = [(one.arguments or {}).get("city") for one in reply.message.calls]
    assert (made, reply.message.text) == (cities, words)
    shown: dict[int, str] = {}
    for delta in deltas:
        if isinstance(delta, CallDelta):
            shown[delta.index] = shown.get(delta.index, "") + delta.arguments
    assert [json.loads(written)["city"] for _, written in sorted(shown.items())] == cities
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == words


def test_what_the_end_has_more_stands_where_it_stands_there() -> None:
    reply, _ = read(done(0, OSLO), completed(thought(), OSLO, ROME))
    assert [item["type"] for item in reply.message.opaque] == ["reasoning", "function_call", "function_call"]


@pytest.mark.requirement("I25.1.2")
@pytest.mark.parametrize(
    "events",
    [
        [done(0, OSLO), completed(call("Rome"))],
        [done(0, OSLO), done(1, call("Rome")), completed()],
        [done(0, OSLO), completed(OSLO, call("Rome"))],
        [done(0, call("Oslo", None)), completed(call("Rome", None))],
    ],
)
def test_a_call_in_two_versions_is_not_made_in_either(events: list[Event]) -> None:
    reply, _ = read(*events)
    assert (reply.stop, reply.message.calls, len(reply.cut_calls)) == ("malformed", (), 2)
    assert "different calls the same id" in reply.trouble
