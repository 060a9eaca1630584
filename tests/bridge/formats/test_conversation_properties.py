"""Whatever was said: each format carries all that it can, and states in words what it leaves out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.formats import Wire
from tests.support.outcomes import PNG, SVG, failed, image, said, succeeded
from tests.support.readers import read_request
from toolspan_bridge.formats import format_names
from toolspan_bridge.messages import (
    Assistant,
    Message,
    Part,
    ToolCall,
    ToolOutcome,
    ToolResults,
    User,
)

pytestmark = pytest.mark.requirement("I5.4.3")

_TEXTS = st.text('abc øå🌧"\\{}[]`\n-', min_size=1, max_size=12).map(str.strip).filter(bool)
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(-9, 9)
    | st.text('aø🌧"\\', max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text("aø $", max_size=3), inner, max_size=2)
    ),
    max_leaves=5,
)
_ARGUMENTS = st.dictionaries(st.sampled_from(["city", "å", "$x"]), _JSON, max_size=2)
_IDS = st.sampled_from(["call_1", "toolu_2", "a:b.c", "ü" * 50, "x" * 80, ""])
_NAMES = st.sampled_from(["s__weather", "s__time"])
_MEDIA: st.SearchStrategy[tuple[Part, ...]] = st.sampled_from(
    [(), (), (image(),), (image(SVG, "image/svg+xml"),)]
)


@st.composite
def _outcomes(draw: st.DrawFn, call: ToolCall) -> ToolOutcome:
    text, media = draw(_TEXTS), draw(_MEDIA)
    if draw(st.booleans()):
        return failed(said(text), *media, call_id=call.id)
    return succeeded(said(text), *media, call_id=call.id)


@st.composite
def _conversations(draw: st.DrawFn) -> list[Message]:
    """Rounds of a question, turns of calls with their results, and an answer; the last is a question."""
    messages: list[Message] = []
    for _ in range(draw(st.integers(0, 2))):
        messages.append(User(draw(_TEXTS)))
        for _ in range(draw(st.integers(0, 2))):
            calls = draw(st.lists(st.builds(ToolCall, _IDS, _NAMES, _ARGUMENTS), min_size=1, max_size=3))
            messages.append(Assistant(draw(st.just("") | _TEXTS), tuple(calls)))
            messages.append(ToolResults(tuple(draw(_outcomes(call)) for call in calls)))
        messages.append(Assistant(draw(_TEXTS)))
    return [*messages, User(draw(_TEXTS))]


def _due(messages: list[Message]) -> list[tuple[Any, ...]]:
    """What a reader must find, without the files."""
    due: list[tuple[Any, ...]] = []
    for message in messages:
        match message:
            case User():
                due.append(("user", message.text))
            case Assistant():
                calls = [(call.name, call.arguments) for call in message.calls]
                due.append(("assistant", message.text, calls))
            case ToolResults():
                due += [("result", each.failed, each.parts[0].data["text"]) for each in message.outcomes]
    return due


def _found(wire: Wire, body: Any) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for told in read_request(wire.name, body):
        if told[0] != "assistant":
            found.append(told)
            continue
        message = wire.format.parse_reply(told[1]).message
        found.append(("assistant", message.text, [(call.name, call.arguments) for call in message.calls]))
    return found


@settings(max_examples=60, deadline=None)
@given(messages=_conversations(), vision=st.booleans(), streamed=st.booleans())
def test_what_was_said_is_found_again_in_the_request(
    messages: list[Message], vision: bool, streamed: bool
) -> None:
    for name in format_names():
        wire = Wire(name)
        body = wire.render(*messages, vision=vision, stream=streamed)
        found = [told for told in _found(wire, body) if not _is_caption(told)]
        due = _due(messages)
        assert len(found) == len(due), name
        for told, wanted in zip(found, due, strict=True):
            if wanted[0] == "result":
                assert told[:2] == wanted[:2] and told[2].startswith(wanted[2]), name
            else:
                assert told == wanted, name


def _is_caption(told: tuple[Any, ...]) -> bool:
    """Whether it is the line that stands before images where results cannot hold them."""
    return told[0] == "user" and str(told[1]).startswith("From the tool")


@settings(max_examples=60, deadline=None)
@given(messages=_conversations(), vision=st.booleans())
def test_every_file_is_carried_or_its_loss_is_told(messages: list[Message], vision: bool) -> None:
    results = [outcome for each in messages if isinstance(each, ToolResults) for outcome in each.outcomes]
    kinds = [part.data.get("mimeType") for outcome in results for part in outcome.parts[1:]]
    for name in format_names():
        sent = json.dumps(Wire(name).render(*messages, vision=vision))
        told = sent.count("omitted,")
        assert sent.count(PNG) + told == len(kinds), name
        assert SVG not in sent and told >= kinds.count("image/svg+xml"), name
