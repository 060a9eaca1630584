"""The scripted provider replays turns, from a file or from code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from toolspan_bridge.errors import (
    AuthError,
    BridgeError,
    ProviderError,
    UnknownModelError,
    UnreachableError,
    UsageError,
)
from toolspan_bridge.messages import (
    Assistant,
    Message,
    Reply,
    Request,
    ToolResults,
    ToolSpec,
    Usage,
    User,
)
from toolspan_bridge.messages.deltas import TextDelta
from toolspan_bridge.providers import resolve_model
from toolspan_bridge.providers.catalog.scripted import Scripted

pytestmark = pytest.mark.anyio

WEATHER = ToolSpec("home", "get_weather", "Weather", {"type": "object"})
TWIN = ToolSpec("work", "get_weather", "Weather", {"type": "object"})

SCRIPT = """
turns:
  - text: Let me look.
    calls:
      - tool: get_weather
        arguments: {location: Paris}
    usage: {input_tokens: 12, output_tokens: 5}
  - text: It is 22 °C.
    stop: length
"""


def question(*tools: ToolSpec) -> Request:
    return Request("m", (User("hi"),), tools=tools)


@pytest.mark.requirement("I2.6.3")
async def test_a_file_is_replayed_turn_by_turn(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(SCRIPT, encoding="utf-8")
    provider, model = resolve_model(f"scripted/{path}")
    first = await provider.answer(question(WEATHER))
    second = await provider.answer(question(WEATHER))
    await provider.aclose()
    assert model == str(path)
    (call,) = first.message.calls
    assert (first.message.text, call.name, call.arguments) == (
        "Let me look.",
        "home__get_weather",
        {"location": "Paris"},
    )
    assert first.usage == Usage(input_tokens=12, output_tokens=5)
    assert (second.message.text, second.stop) == ("It is 22 °C.", "length")


async def test_running_out_of_turns_names_the_script_and_its_length() -> None:
    provider = Scripted([{"text": "one"}], source="run.yaml")
    await provider.answer(question())
    with pytest.raises(ProviderError, match=r"run\.yaml ends after turn 1 and was asked for one more"):
        await provider.answer(question())


async def test_a_tool_goes_by_its_own_name_its_wire_name_or_as_written() -> None:
    calls = [{"tool": "get_weather"}, {"tool": "home__get_weather"}, {"tool": "made_up"}]
    reply = await Scripted([{"calls": calls}]).answer(question(WEATHER))
    assert [call.name for call in reply.message.calls] == [
        "home__get_weather",
        "home__get_weather",
        "made_up",
    ]
    assert len({call.id for call in reply.message.calls}) == 3


async def test_a_name_that_two_servers_share_is_left_as_written() -> None:
    reply = await Scripted([{"calls": [{"tool": "get_weather"}]}]).answer(question(WEATHER, TWIN))
    assert reply.message.calls[0].name == "get_weather"


@pytest.mark.parametrize(
    ("raw", "why"), [('{"city": ', "not JSON"), ("[1]", "not list"), ("null", "not NoneType")]
)
async def test_raw_arguments_that_are_no_object_are_replayed_as_malformed(raw: str, why: str) -> None:
    reply = await Scripted([{"calls": [{"tool": "t", "arguments": raw, "id": "x"}]}]).answer(question())
    (call,) = reply.message.calls
    assert (call.id, call.arguments, call.raw) == ("x", None, raw)
    assert why in call.malformed


async def test_raw_arguments_that_are_an_object_are_read() -> None:
    calls = [{"tool": "t", "arguments": '{"a": 1}'}, {"tool": "t", "arguments": ""}]
    reply = await Scripted([{"calls": calls}]).answer(question())
    assert [call.arguments for call in reply.message.calls] == [{"a": 1}, {}]


@pytest.mark.parametrize(
    ("kind", "raised"),
    [
        ("auth", AuthError),
        ("unreachable", UnreachableError),
        ("unknown_model", UnknownModelError),
        ("provider", ProviderError),
    ],
)
async def test_an_error_turn_is_raised(kind: str, raised: type[BridgeError]) -> None:
    provider = Scripted([{"error": {"kind": kind, "message": "as recorded", "status": 529}}, {"text": "on"}])
    with pytest.raises(raised, match="as recorded"):
        await provider.answer(question())
    assert (await provider.answer(question())).message.text == "on"


async def test_in_code_turns_may_be_replies_and_errors_and_requests_are_kept() -> None:
    provider = Scripted([Reply(Assistant("hello")), AuthError("no key")])
    asked = question(WEATHER)
    assert (await provider.answer(asked)).message.text == "hello"
    with pytest.raises(AuthError):
        await provider.answer(asked)
    assert provider.requests == [asked, asked]


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        ({"txt": "x"}, r"\$\.turns\[0\]: unknown txt \(known: after_ms, calls, error"),
        ({"text": 5}, "`text` a string"),
        ({"stop": "never"}, "'never' is none of stop, length"),
        ({"calls": ["t"]}, r"calls\[0\]: must be an object"),
        ({"calls": [{"arguments": {}}]}, r"calls\[0\]\.tool: a tool's name is missing"),
        ({"calls": [{"tool": "t", "arguments": 3}]}, "must be an object, or text"),
        ({"usage": {"input_tokens": "many"}}, "whole numbers"),
        ({"error": {"kind": "odd"}}, "'odd' is none of auth"),
        ({"error": {"status": "529"}}, "an HTTP status"),
        ({"after_ms": "50"}, r"after_ms: must be a number of milliseconds"),
        ({"after_ms": -1}, r"after_ms: must be a number of milliseconds"),
        ({"silent": "no"}, r"silent: must be true or false"),
    ],
)
def test_a_turn_that_is_wrong_says_where_and_why(turn: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Scripted([turn])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"turns: [", "is no YAML"),
        (b"[]", "holds no turns"),
        (b"turns: []", "holds no turns"),
        (b"\xff", "cannot be read"),
        (b"answers: []", "must be a list with an answer"),
        (b"{answers: [{to: x}], turns: [{text: y}]}", "has `turns` and `answers`"),
        (b"answers: [{to: 5, turns: [{text: y}]}]", r"answers\[0\]\.to: must be a text"),
        (b"answers: [{to: x}]", r"answers\[0\]: write `turns`, or `times`"),
        (b"answers: [{turns: [{text: y}], times: [[{text: z}]]}]", "write `turns`, or `times`"),
        (b"answers: [{times: [{text: z}]}]", r"times\[0\]: must be a list with a turn"),
        (b"answers: [{times: [[{txt: z}]]}]", r"answers\[0\]\.times\[0\]\[0\]: unknown txt"),
        (b"answers: [{for: x, turns: [{text: y}]}]", "unknown for"),
    ],
)
def test_a_file_that_is_no_script_is_named(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=said) as caught:
        resolve_model(f"scripted/{path}")
    assert "bad.yaml" in caught.value.message


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match=r"nowhere\.yaml cannot be read"):
        resolve_model("scripted/nowhere.yaml")


ANSWERS = """
answers:
  - to: WEATHER
    times:
      - [{calls: [{tool: get_weather}]}, {text: It is sunny.}]
      - [{text: No idea.}]
  - to: sum
    turns: [{text: It is 4., after_ms: 1}]
"""


def said(text: str, *after: Message, conversation: str = "") -> Request:
    return Request("m", (User(text), *after), tools=(WEATHER,), conversation=conversation)


@pytest.mark.requirement("I14.6.1")
async def test_answers_are_found_by_the_question_and_by_how_often_it_was_asked(tmp_path: Path) -> None:
    path = tmp_path / "answers.yaml"
    path.write_text(ANSWERS, encoding="utf-8")
    provider, _ = resolve_model(f"scripted/{path}")
    texts = [(await provider.answer(said("the weather?", conversation=str(n)))).message for n in range(3)]
    assert [(each.text, len(each.calls)) for each in texts] == [("", 1), ("No idea.", 0), ("", 1)]
    assert (await provider.answer(said("A sum, please"))).message.text == "It is 4."


@pytest.mark.requirement("I14.6.1")
async def test_conversations_that_go_on_at_once_have_each_its_own_turns() -> None:
    turns = [[{"calls": [{"tool": "get_weather"}]}, {"text": f"answer {n}"}] for n in range(3)]
    provider = Scripted(answers=[{"times": turns}])
    begun = {each: (await provider.answer(said("?", conversation=each))).message for each in "abc"}
    for place, each in reversed(list(enumerate("abc"))):
        reply = await provider.answer(said("?", begun[each], ToolResults(()), conversation=each))
        assert reply.message.text == f"answer {place}"


@pytest.mark.requirement("I14.6.1")
async def test_a_question_without_an_answer_and_an_answer_without_a_turn_are_named() -> None:
    provider = Scripted(answers=[{"to": "sum", "turns": [{"text": "4"}]}], source="run.yaml")
    with pytest.raises(ProviderError, match=r"run\.yaml has no answer to 'the weather\?'"):
        await provider.answer(said("the weather?"))
    asked = said("a sum?", Assistant("4"), ToolResults(()))
    with pytest.raises(ProviderError, match=r"the answer to 'a sum\?' ends after turn 1"):
        await provider.answer(asked)


@pytest.mark.requirement("I14.6.1")
async def test_an_error_that_comes_again_is_another_one_each_time() -> None:
    provider = Scripted(answers=[{"turns": [{"error": {"message": "down", "status": 503}}]}])
    raised: list[ProviderError] = []
    for _ in range(2):
        with pytest.raises(ProviderError) as caught:
            await provider.answer(said("?"))
        raised.append(caught.value)
    assert raised[0] is not raised[1]
    assert [each.status for each in raised] == [503, 503]


@pytest.mark.requirement("I14.6.1")
async def test_a_silent_turn_never_comes_and_a_late_one_does() -> None:
    silent, late = Scripted([{"silent": True}] * 2), Scripted([{"text": "at last", "after_ms": 20}])
    with anyio.move_on_after(0.05) as waited:
        await silent.answer(said("?"))
    assert waited.cancelled_caught
    with anyio.move_on_after(0.05) as waited:
        await anext(silent.stream(said("?")))
    assert waited.cancelled_caught
    began = anyio.current_time()
    assert (await late.answer(said("?"))).message.text == "at last"
    assert anyio.current_time() - began >= 0.02


@pytest.mark.requirement("I14.6.1")
async def test_a_silent_turn_streams_what_is_written_of_it_and_no_end() -> None:
    came: list[object] = []
    stream = Scripted([{"pieces": ["Let me ", "see"], "silent": True}]).stream(said("?"))
    with anyio.move_on_after(0.05) as waited:
        async for each in stream:
            came.append(each)
    await stream.aclose()
    assert waited.cancelled_caught
    assert came == [TextDelta("Let me "), TextDelta("see")]
