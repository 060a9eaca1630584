"""The scripted provider replays turns, from a file or from code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
    Reply,
    Request,
    ToolSpec,
    Usage,
    User,
)
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
        ({"txt": "x"}, r"\$\.turns\[0\]: unknown txt \(known: calls, error"),
        ({"text": 5}, "`text` a string"),
        ({"stop": "never"}, "'never' is none of stop, length"),
        ({"calls": ["t"]}, r"calls\[0\]: must be an object"),
        ({"calls": [{"arguments": {}}]}, r"calls\[0\]\.tool: a tool's name is missing"),
        ({"calls": [{"tool": "t", "arguments": 3}]}, "must be an object, or text"),
        ({"usage": {"input_tokens": "many"}}, "whole numbers"),
        ({"error": {"kind": "odd"}}, "'odd' is none of auth"),
        ({"error": {"status": "529"}}, "an HTTP status"),
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
