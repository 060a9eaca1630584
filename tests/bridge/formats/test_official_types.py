"""What is sent to OpenAI and Gemini is what their own clients would send."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.formats import Wire
from tests.support.official_types import check_gemini, check_openai
from tests.support.outcomes import PDF, failed, image, part, said, succeeded
from toolspan_bridge.formats import format_names
from toolspan_bridge.messages import (
    Message,
    ToolOutcome,
    ToolResults,
    ToolSpec,
    User,
    WireOptions,
)
from toolspan_bridge.providers.compatible.rows import row_of

pytestmark = pytest.mark.requirement("I5.4.2")

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": False}
TOOLS = (
    ToolSpec("s", "weather", "Tells the weather", CITY, output_schema=CITY),
    ToolSpec("s", "time", "", {"type": "object"}, strict=True),
    ToolSpec("s", "any", "", {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
)
DOCUMENT = part("resource", resource={"uri": "a.pdf", "mimeType": "application/pdf", "blob": PDF})
CALLS = [("c1", "s__weather", {"city": "Oslo"}), ("c2", "s__time", {})]
CHECKS = {
    "gemini": check_gemini,
    "openai": lambda body: check_openai("chat", body),
    "openai-responses": lambda body: check_openai("responses", body),
}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"system": "Be brief.", "max_tokens": 100, "temperature": 0.5},
    {"stream": True, "tool_choice": "required", "parallel": False},
    {"tool_choice": ("s", "weather")},
    {"tool_choice": "none"},
    {"builtins": ("web_search",)},
    {"tools": ()},
    {"vision": False, "audio": True},
]


def histories(wire: Wire) -> Iterator[tuple[Message, ...]]:
    """A question with files, then turns that came by streams of every format, and their results."""
    yield (User("What is it?", (image(), DOCUMENT, part("audio", data="AAAA", mimeType="audio/wav"))),)
    for name in format_names():
        reply = Wire(name).parse(*CALLS, text="Let me see.")
        yield (User("hi"), reply.message, results(reply.message.calls), User("thanks"))
    for _, body in wire.answers.STREAMS.values():
        reply = wire.format.parse_reply(body)
        yield (User("hi"), reply.message, results(reply.message.calls))


def results(calls: Any) -> ToolResults:
    outcomes: list[ToolOutcome] = [
        succeeded(said("7"), image(), DOCUMENT, structured={"city": "Oslo"}, call_id=call.id)
        for call in calls[:1]
    ]
    return ToolResults((*outcomes, *(failed(call_id=call.id) for call in calls[1:])))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", CHECKS)
def test_requests_are_of_the_types_that_the_providers_clients_publish(
    name: str, options: dict[str, Any]
) -> None:
    wire = Wire(name)
    for history in histories(wire):
        CHECKS[name](
            wire.render(*history, **{"tools": TOOLS, "wire": WireOptions(row_of("openai").chat), **options})
        )


def test_the_types_tell_what_does_not_belong() -> None:
    for name in ("gemini", "openai", "openai-responses"):
        body = Wire(name).render(User("hi"), tools=TOOLS)
        place = body["tools"][0]
        place["surprise"] = 1
        with pytest.raises((ValueError, AssertionError)):
            CHECKS[name](body)


def test_the_answers_of_the_fake_are_answers_to_openais_client() -> None:
    from openai.types.responses import Response

    wire = Wire("openai-responses")
    whole = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    for _, body in wire.answers.STREAMS.values():
        read = Response.model_validate({**body, **whole})
        assert read.output_text == "".join(
            entry["text"] for item in body["output"] for entry in item.get("content", [])
        )


def test_the_answers_of_the_fake_are_answers_to_google_genai() -> None:
    from google.genai import types

    for _, body in Wire("gemini").answers.STREAMS.values():
        types.GenerateContentResponse.model_validate_json(json.dumps(body))
