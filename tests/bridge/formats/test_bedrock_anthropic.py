"""Claude by InvokeModel: Anthropic's body with the version inside, and chunks that only Bedrock sends."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from botocore.eventstream import EventStreamBuffer
from botocore.parsers import EventStreamJSONParser
from botocore.session import Session

from tests.support.event_frames import frame
from tests.support.provider_rules.bedrock_anthropic import check_request
from tests.support.wires import bedrock_anthropic as wire
from tests.support.wires.anthropic import THOUGHT, USE, message
from toolspan_bridge.formats import (
    FormatError,
    StreamFailed,
    anthropic,
    bedrock_anthropic,
)
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import Request, ToolSpec, User

pytestmark = pytest.mark.requirement("I5.1.1")

TOOL = ToolSpec("s", "t", "d", {"type": "object"})
NAMES = NameTable.of([TOOL])


def test_the_body_is_anthropics_but_for_model_and_stream() -> None:
    model = "anthropic.claude-opus-4-8"
    asked = Request(model, (User("hi"),), tools=(TOOL,), max_tokens=9, stream=True, cache=False)
    body = bedrock_anthropic.render_request(asked, NAMES)
    check_request(body, model)
    theirs = anthropic.render_request(asked, NAMES)
    del theirs["model"], theirs["stream"]
    assert body == {"anthropic_version": "bedrock-2023-05-31", **theirs}


@pytest.mark.requirement("I5.1.5")
def test_tools_of_anthropics_own_are_not_asked_for() -> None:
    asked = Request("m", (User("hi"),), builtins=("web_search",))
    assert "tools" not in bedrock_anthropic.render_request(asked, NameTable.of([]))


@pytest.mark.requirement("I5.1.3")
def test_thoughts_go_back_to_the_same_service_only() -> None:
    reply = bedrock_anthropic.parse_reply(message(THOUGHT, {**USE, "name": "s__t"}, stop="tool_use"))
    asked = Request("m", (User("hi"), reply.message), tools=(TOOL,))
    here = bedrock_anthropic.render_request(asked, NAMES)["messages"][1]["content"]
    there = anthropic.render_request(asked, NAMES)["messages"][1]["content"]
    assert [block["type"] for block in here] == ["thinking", "tool_use"]
    assert [block["type"] for block in there] == ["tool_use"]


@pytest.mark.requirement("I5.4.2")
def test_botocore_reads_the_streams_that_these_tests_are_made_of() -> None:
    model = Session().get_service_model("bedrock-runtime")
    shape = model.operation_model("InvokeModelWithResponseStream").output_shape.members["body"]
    buffer = EventStreamBuffer()
    buffer.add_data(b"".join(wire.frames("Hello")))
    read = [EventStreamJSONParser().parse(each.to_response_dict(), shape) for each in buffer]
    kinds = [json.loads(each["chunk"]["bytes"])["type"] for each in read]
    assert kinds[0] == "message_start" and kinds[-1] == "message_stop"


@pytest.mark.parametrize(
    ("exception", "status", "again"),
    [
        ("internalServerException", 500, True),
        ("modelStreamErrorException", 424, False),
        ("modelTimeoutException", 408, True),
        ("serviceUnavailableException", 503, True),
        ("throttlingException", 429, True),
        ("validationException", 400, False),
    ],
)
def test_exceptions_within_a_stream(exception: str, status: int, again: bool) -> None:
    error = raised(frame(b'{"message": "tools.3.custom: no"}', exception=exception))
    assert (error.status, error.retryable, error.message, error.tool) == (
        status,
        again,
        "tools.3.custom: no",
        3,
    )
    assert error.kind == exception[0].upper() + exception[1:]


def test_an_error_of_the_framing() -> None:
    error = raised(frame(b"", message_type="error", error_code="InternalError", error_message="Lost it"))
    assert (error.kind, error.message, error.retryable) == ("InternalError", "Lost it", True)


def test_a_model_error_whose_cause_may_pass_is_tried_again() -> None:
    payload = b'{"message": "busy", "originalStatusCode": 529}'
    assert raised(frame(payload, exception="modelStreamErrorException")).retryable


def test_an_anthropic_error_within_a_chunk() -> None:
    event = {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}
    assert (raised(wire.chunk(event)).status, raised(wire.chunk(event)).message) == (529, "Busy")


def raised(sent: bytes) -> Any:
    parser = bedrock_anthropic.parse_stream()
    with pytest.raises(StreamFailed) as caught:
        parser.feed(sent)
    assert parser.end().incomplete
    return caught.value.error


@pytest.mark.parametrize(
    "payload", [b"", b"[]", b"not json", b'{"bytes": "%%%"}', b'{"bytes": 7}', b'{"type": "ping"}']
)
def test_a_chunk_that_cannot_be_read_is_refused(payload: bytes) -> None:
    with pytest.raises(FormatError, match="a chunk of the event stream cannot be read"):
        bedrock_anthropic.parse_stream().feed(frame(payload, event="chunk"))


def test_the_events_are_base64() -> None:
    parser = bedrock_anthropic.parse_stream()
    event = base64.b64encode(b'{"type": "ping"}').decode()
    assert parser.feed(frame(json.dumps({"bytes": event}).encode(), event="chunk")) == []
