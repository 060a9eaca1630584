"""What every format must do whole. A new format needs its wire in ``tests/support/wires`` and its provider's
rules in ``tests/support/provider_rules``; then all of this runs for it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.formats import TOOLS, Wire
from tests.support.outcomes import PNG, failed, image, said, succeeded
from toolspan_bridge.formats import FormatError, format_names, get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import (
    Assistant,
    Message,
    ToolCall,
    ToolOutcome,
    ToolResults,
    ToolSpec,
    User,
)

pytestmark = pytest.mark.requirement("I2.6.2")

NAMES = NameTable.of(TOOLS)
ODD_IDS = st.sampled_from(["", "c1", "c1", "ü", "x" * 200, "a b", "call_1"]) | st.text(max_size=5)


@pytest.fixture(params=format_names())
def wire(request: pytest.FixtureRequest) -> Wire:
    return Wire(request.param)


def weather(call_id: str = "c1", **arguments: Any) -> ToolCall:
    return ToolCall(call_id, "s__weather", arguments)


def test_the_formats_are_those_that_were_asked_for() -> None:
    assert set(format_names()) >= {"bedrock", "gemini", "ollama", "openai"}


def test_an_unknown_format_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        get_format("fax")


@pytest.mark.requirement("I2.6.5")
def test_the_tool_payload_is_what_the_request_carries(wire: Wire) -> None:
    payload = wire.format.render_tools(TOOLS, NAMES)
    assert json.dumps(payload)[1:-1] in json.dumps(wire.render(User("hi")))


@pytest.mark.requirement("I2.6.5")
def test_tools_are_sent_in_one_order_whatever_order_they_come_in(wire: Wire) -> None:
    assert json.dumps(wire.format.render_tools(TOOLS, NAMES)) == json.dumps(
        wire.format.render_tools(TOOLS[::-1], NameTable.of(TOOLS[::-1]))
    )


def test_a_whole_exchange_is_sent_by_the_rules(wire: Wire) -> None:
    reply = wire.parse(("c1", "s__weather", {"city": "Oslo"}), ("c2", "s__time", {}), text="Let me see.")
    results = ToolResults((succeeded(said("7 degrees"), call_id="c1"), failed(call_id="c2")))
    body = wire.render(User("hi"), reply.message, results, User("thanks"), system="Be brief.")
    sent = json.dumps(body)
    assert all(
        word in sent for word in ("Be brief.", "hi", "Let me see.", "Oslo", "7 degrees", "it broke", "thanks")
    )


def test_text_and_calls_are_read(wire: Wire) -> None:
    reply = wire.parse(("c1", "s__weather", {"city": "Oslo"}), ("c2", "s__time", {}), text="Let me see.")
    assert reply.message.text == "Let me see."
    assert [(call.id, call.name, call.arguments) for call in reply.message.calls] == [
        ("c1", "s__weather", {"city": "Oslo"}),
        ("c2", "s__time", {}),
    ]
    assert reply.stop == "stop" and not reply.cut_calls


def test_an_answer_without_calls_is_just_text(wire: Wire) -> None:
    reply = wire.parse(text="It is seven.")
    assert (reply.message.text, reply.message.calls, reply.stop) == ("It is seven.", (), "stop")


def test_usage_has_one_shape_and_keeps_the_raw_numbers(wire: Wire) -> None:
    usage = wire.parse(text="x").usage
    assert (usage.input_tokens, usage.output_tokens) == (11, 7)
    (raw,) = usage.raw
    assert 11 in raw.values() or 8 in raw.values()


def test_a_turn_cut_at_its_limit_carries_out_nothing(wire: Wire) -> None:
    reply = wire.parse(("c1", "s__weather", {"city": "Os"}), text="Let me", stop="length")
    assert reply.stop == "length" and reply.message == Assistant("Let me")
    assert [call.name for call in reply.cut_calls] == ["s__weather"]


def test_a_refusal_is_told(wire: Wire) -> None:
    if "refusal" in wire.answers.STOPS:
        assert wire.parse(text="No.", stop="refusal").stop == "refusal"


def test_missing_ids_are_replaced_by_others_which_are_the_same_for_the_same_answer(wire: Wire) -> None:
    calls = [(None, "s__time", {}), ("c1", "s__time", {}), ("", "s__time", {})]
    ids = [call.id for call in wire.parse(*calls).message.calls]
    assert len(set(ids)) == 3 and all(ids)
    assert ids == [call.id for call in wire.parse(*calls).message.calls]


@pytest.mark.requirement("I25.1.2")
def test_a_call_that_is_said_twice_under_one_id_is_one_call(wire: Wire) -> None:
    said = ("c1", "s__weather", {"city": "Oslo", "days": 3})
    again = ("c1", "s__weather", '{"days": 3, "city": "Oslo"}')
    reply = wire.parse(said, ("c2", "s__weather", {"city": "Oslo", "days": 3}), again)
    if wire.name == "prompt":  # its ids are of the model's making
        assert len(reply.message.calls) == 3
    else:
        assert [call.id for call in reply.message.calls] == ["c1", "c2"]


@pytest.mark.requirement("I25.1.2")
@pytest.mark.parametrize("other", [("s__weather", {"city": "Rome"}), ("s__time", {"city": "Oslo"})])
def test_two_different_calls_under_one_id_are_a_malformed_turn(wire: Wire, other: tuple[str, Any]) -> None:
    reply = wire.parse(("c1", "s__weather", {"city": "Oslo"}), ("c1", *other))
    if wire.name == "prompt":
        assert len({call.id for call in reply.message.calls}) == 2
    else:
        assert (reply.stop, reply.message.calls, len(reply.cut_calls)) == ("malformed", (), 2)
        assert "'c1'" in reply.trouble


@pytest.mark.parametrize("arguments", [{}, "", "{}", "null", '"{}"', "  "])
def test_empty_arguments_are_an_empty_object(wire: Wire, arguments: Any) -> None:
    assert wire.parse(("c1", "s__time", arguments)).message.calls[0].arguments == {}


@pytest.mark.parametrize("arguments", ['{"city": "Oslo"}', '"{\\"city\\": \\"Oslo\\"}"', {"city": "Oslo"}])
def test_arguments_are_read_from_an_object_a_string_or_a_string_in_a_string(
    wire: Wire, arguments: Any
) -> None:
    assert wire.parse(("c1", "s__weather", arguments)).message.calls[0].arguments == {"city": "Oslo"}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ('{"city": "Os', "not valid JSON"),
        ("[1]", "a JSON array, not an object"),
        ("7", "a JSON number"),
        ('"oslo"', "not valid JSON"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a":' * 100 + "1" + "}" * 100, "nested deeper than 64"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_arguments_that_are_no_object_say_why_and_are_kept(wire: Wire, arguments: Any, why: str) -> None:
    (call,) = wire.parse(("c1", "s__weather", arguments)).message.calls
    assert call.arguments is None and call.raw
    assert why in call.malformed
    wire.render(User("hi"), Assistant(calls=(call,)), ToolResults((failed(),)))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        "",
        b"<html><body>502 Bad Gateway</body></html>",
        "null",
        [],
        7,
        None,
        {"error": {"message": "no"}},
    ],
)
def test_an_answer_that_is_none_is_quoted(wire: Wire, body: Any) -> None:
    with pytest.raises(FormatError) as caught:
        wire.format.parse_reply(body)
    assert "empty" in str(caught.value) or ": " in str(caught.value)


def test_an_answer_without_a_message_is_quoted(wire: Wire) -> None:
    for body in wire.answers.BROKEN:
        with pytest.raises(FormatError, match=r"the answer has no .*: {"):
            wire.format.parse_reply(body)


def test_an_answer_may_come_as_text(wire: Wire) -> None:
    assert wire.format.parse_reply(json.dumps(wire.answers.answer("hi")).encode()).message.text == "hi"


def test_half_characters_in_an_answer_are_made_whole(wire: Wire) -> None:
    reply = wire.parse(("c1", "s__weather", {"city": "Os\ud83d"}), text="\udc00lo")
    assert reply.message.text == "\ufffdlo" and reply.message.calls[0].arguments == {"city": "Os\ufffd"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("name", format_names())
@settings(max_examples=50)
@given(data=st.data())
def test_a_mistyped_answer_is_read_or_refused_and_never_crashes(name: str, data: st.DataObject) -> None:
    body = Wire(name).answers.answer("hi", [("c1", "s__time", {}), ("c2", "s__weather", {})])
    places = list(_places(body))
    for place in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=3)):
        _put(body, place, data.draw(JSON))
    try:
        reply = get_format(name).parse_reply(body)
    except FormatError as error:
        assert len(str(error)) < 400
    else:
        assert all(isinstance(call.name, str) and call.id for call in reply.message.calls)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Any:
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from _places(inner, (*path, key))


def _put(body: Any, path: tuple[Any, ...], value: Any) -> None:
    try:
        for key in path[:-1]:
            body = body[key]
        if path:
            body[path[-1]] = value
    except (KeyError, IndexError, TypeError):
        return  # an earlier change took the place away


def test_calls_without_results_get_one_each(wire: Wire) -> None:
    body = wire.render(User("hi"), Assistant(calls=(weather("a1"), weather("a2"))), User("never mind"))
    assert json.dumps(body).count("not carried out") == 2


def test_results_of_calls_with_the_same_id_go_to_one_call_each(wire: Wire) -> None:
    outcomes = (succeeded(said("first"), call_id="a"), succeeded(said("second"), call_id="a"))
    sent = json.dumps(wire.render(User("hi"), Assistant(calls=(weather("a"),) * 3), ToolResults(outcomes)))
    assert sent.index("first") < sent.index("second") < sent.index("not carried out")
    assert sent.count("first") == sent.count("second") == 1


def test_results_are_put_in_the_order_of_their_calls_and_orphans_left_out(wire: Wire) -> None:
    outcomes = (succeeded(said("two"), call_id="a2"), succeeded(said("stray"), call_id="zz"))
    late = ToolResults((succeeded(said("one"), call_id="a1"),))
    said_so = Assistant(calls=(weather("a1"), weather("a2")))
    sent = json.dumps(wire.render(User("hi"), said_so, ToolResults(outcomes), User("and?"), late))
    assert sent.index("one") < sent.index("two") < sent.index("and?") and "stray" not in sent


@pytest.mark.parametrize("name", format_names())
@settings(max_examples=30)
@given(ids=st.lists(ODD_IDS, min_size=1, max_size=4), again=st.lists(ODD_IDS, max_size=3))
def test_whatever_ids_a_history_holds_calls_and_results_match(
    name: str, ids: list[str], again: list[str]
) -> None:
    wire = Wire(name)
    messages: list[Message] = [User("hi")]
    for turn in (ids, again):
        messages.append(Assistant("so", calls=tuple(weather(call_id) for call_id in turn)))
        messages.append(ToolResults(tuple(succeeded(said("ok"), call_id=call_id) for call_id in turn)))
    first, second = wire.render(*messages), wire.render(*messages)
    assert first == second
    assert json.dumps(first).count("not carried out") == 0


def test_a_name_that_the_model_made_up_is_sent_back_legally(wire: Wire) -> None:
    call = ToolCall("c1", "get the weather!", {})
    wire.render(User("hi"), Assistant(calls=(call,)), ToolResults((failed(error="no such tool"),)))


@pytest.mark.parametrize("other", format_names())
def test_a_history_that_began_elsewhere_goes_on_here(wire: Wire, other: str) -> None:
    reply = Wire(other).parse(("c1", "s__weather", {"city": "Oslo"}), text="So.")
    body = wire.render(User("hi"), reply.message, ToolResults((succeeded(said("7"), call_id="c1"),)))
    assert "Oslo" in json.dumps(body)


def test_a_history_may_begin_with_the_assistant_and_hold_blank_messages(wire: Wire) -> None:
    wire.render(Assistant("Hello!"), User(" "), Assistant(""), User("hi"), User("there"))


def test_past_calls_can_be_told_without_any_tools(wire: Wire) -> None:
    history = (
        User("hi"),
        Assistant(calls=(weather(city="Oslo"),)),
        ToolResults((succeeded(said("7 degrees")),)),
    )
    sent = json.dumps(wire.render(*history, tools=()))
    assert "Oslo" in sent and "7 degrees" in sent


@pytest.mark.parametrize("choice", ["auto", "none", "required"])
def test_every_tool_choice_can_be_sent_with_and_without_tools(wire: Wire, choice: Any) -> None:
    wire.render(User("hi"), tool_choice=choice)
    wire.render(User("hi"), tool_choice=choice, tools=())


def test_options_are_sent_only_when_they_are_set(wire: Wire) -> None:
    assert "temperature" not in json.dumps(wire.render(User("hi")))
    sent = json.dumps(wire.render(User("hi"), temperature=0.0, max_tokens=4321))
    assert '"temperature": 0.0' in sent and "4321" in sent


OUTCOMES = [
    (succeeded(said("uno"), said("due")), "uno\\n\\ndue"),
    (succeeded(), ""),
    (succeeded(said(" ")), ""),
    (succeeded(result={"a": [1, "ü"]}), "ü"),
    (
        failed(error="Tool 'x' not found", action="Use one of the tools"),
        "Tool 'x' not found. Use one of the tools",
    ),
    (succeeded(said('{\n "a": 17\n}'), structured={"a": 17}), "17"),
    (succeeded(said("plain"), structured={"result": "plain"}), "plain"),
]


@pytest.mark.parametrize(("outcome", "shown"), OUTCOMES)
def test_a_result_is_shown_once(wire: Wire, outcome: ToolOutcome, shown: str) -> None:
    body = wire.render(User("hi"), Assistant(calls=(weather(),)), ToolResults((outcome,)))
    sent = json.dumps(body, ensure_ascii=False).replace('\\"', '"')
    assert shown in sent.replace("\\\\", "\\")
    assert not shown or sent.count(shown.split("\\n")[0]) == 1


def test_a_failure_is_marked_as_one(wire: Wire) -> None:
    body = wire.render(User("hi"), Assistant(calls=(weather(),)), ToolResults((failed(said("it broke")),)))
    assert "error" in json.dumps(next(body[key] for key in ("messages", "contents", "input") if key in body))


def test_images_reach_a_model_that_sees_and_leave_a_note_for_one_that_does_not(wire: Wire) -> None:
    history = (User("hi"), Assistant(calls=(weather(),)), ToolResults((succeeded(said("a map:"), image()),)))
    assert PNG in json.dumps(wire.render(*history))
    blind = json.dumps(wire.render(*history, vision=False))
    assert PNG not in blind and "[image/png omitted, 68 B]" in blind


def test_a_long_result_is_cut_and_says_so(wire: Wire) -> None:
    result = ToolResults((succeeded(said("ä" * 1000), structured={"long": "ö" * 1000}),))
    body = wire.render(User("hi"), Assistant(calls=(weather(),)), result, max_result_bytes=101)
    sent = json.dumps(body, ensure_ascii=False)
    assert "ä" * 50 in sent and "ä" * 51 not in sent and "ö" not in sent
    assert "the first 100 of 4013 bytes; max_result_bytes is 101" in sent


def test_half_characters_can_be_sent(wire: Wire) -> None:
    result = ToolResults((succeeded(said("\ud83d")),))
    wire.render(User("\udc00"), Assistant("\ud800", calls=(weather(city="\ud83d"),)), result, system="\udfff")


def test_a_bad_tool_is_left_out_and_the_good_ones_stay(wire: Wire) -> None:
    bad = [
        ToolSpec("s", "away", "", {"type": "object", "properties": {"a": {"$ref": "https://x.test/s.json"}}}),
        ToolSpec("s", "nowhere", "", {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}),
        ToolSpec("s", "wrong", "", {"type": "object", "properties": {"a": {"type": "float"}}}),
    ]
    sent = json.dumps(wire.render(User("hi"), tools=(*TOOLS, *bad)))
    assert "s__weather" in sent and not any(f"s__{tool.name}" in sent for tool in bad)
    reported = {(loss.tool, loss.rule, loss.pointer) for loss in wire.format.losses(bad)}
    assert reported == {
        ("s__away", "external-ref", "/properties/a/$ref"),
        ("s__nowhere", "dangling-ref", "/properties/a/$ref"),
        ("s__wrong", "invalid-schema", "/properties/a/type"),
    }


def test_a_tool_that_comes_twice_is_sent_once_and_reported(wire: Wire) -> None:
    wire.render(User("hi"), tools=(*TOOLS, TOOLS[0]))
    assert [loss.rule for loss in wire.format.losses((*TOOLS, TOOLS[0]))] == ["duplicate-tool"]


def test_a_plain_tool_loses_nothing(wire: Wire) -> None:
    assert wire.format.losses(TOOLS) == []
    assert wire.format.restore(TOOLS[0], {"city": "Oslo", "more": 1.5}) == {"city": "Oslo", "more": 1.5}


def test_an_error_is_read(wire: Wire) -> None:
    error = wire.format.parse_error(400, {}, wire.answers.error("tools.0 is bad", "ValidationException"))
    assert (error.status, error.message, error.retryable) == (400, "tools.0 is bad", False)


@pytest.mark.parametrize(
    "body", [b"", b"<html>oh", b"\xff\xfe", b"[]", b'{"error": 7}', b"null", b"[" * 100_000]
)
def test_an_error_of_any_shape_is_read(wire: Wire, body: bytes) -> None:
    error = wire.format.parse_error(503, {"Retry-After": "soon"}, body)
    assert error.retryable and error.message and len(error.message) < 300 and error.retry_after is None
