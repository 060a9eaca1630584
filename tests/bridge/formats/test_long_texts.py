"""Long texts and answers of very many values are read in work that grows with their length alone."""

from __future__ import annotations

import json
import random

import pytest

from tests.support.cost import at_most
from tests.support.wire_peers import FORMATS
from toolspan_bridge.formats import FormatError, get_format
from toolspan_bridge.formats.prompt import rescue
from toolspan_bridge.formats.prompt.rescue import UNREAD, HeldText, rescued
from toolspan_bridge.formats.prompt.written_calls import Callables
from toolspan_bridge.formats.shared.replies.markup import CALLS, THOUGHTS, any_of
from toolspan_bridge.formats.shared.replies.thoughts import without_thoughts
from toolspan_bridge.messages import Assistant, Reply, Request, ToolSpec, User

pytestmark = pytest.mark.requirement("I24.5.6")

_TOOL = ToolSpec("a", "s", "a", {"type": "object"})
_SIZE = 1_500_000


@pytest.mark.parametrize("part", ["word ", "word.\n", "a <b> [c] <", "`x` A c <b> "])
def test_a_text_without_markup_is_read_quickly(part: str) -> None:
    text = part * (_SIZE // len(part))
    held = HeldText(Callables.of((_TOOL,)))
    request = Request("m", (User("?"),), (_TOOL,))
    with at_most(units=60):
        assert without_thoughts(text) == text
        shown = held.feed(text)
        reply = rescued(Reply(Assistant(text), "stop"), request)
    assert text.startswith(shown) and len(text) - len(shown) < 100
    assert reply.message.text == text
    assert UNREAD not in reply.notes


def test_marks_are_found_where_each_character_is_looked_at() -> None:
    dice = random.Random(1)
    marks = [*(row.opens for row in THOUGHTS), *(tag for row in CALLS for tag in (*row.opens, *row.closes))]
    parts = [*marks, "`", "```json\n", "```\n", "Action:", " ", "\n", "<", "[", "x", "   "]
    for _ in range(2_000):
        chosen = dice.choices(parts, k=dice.choice((3, 30)))
        text = "".join(part[: dice.choice((len(part), dice.randrange(len(part) + 1)))] for part in chosen)
        wanted, found = rescue._MARK.search(text, 1), rescue._next_mark(text, 1)
        assert (wanted and wanted.span()) == (found and found.span()), text
        for mark in any_of(marks).finditer(text):
            longer = [other for other in marks if text.startswith(other, mark.start())]
            assert mark[0] == max(longer, key=len)


@pytest.mark.parametrize("wire", FORMATS)
def test_an_answer_of_very_many_values_is_refused_before_they_are_made(wire: str) -> None:
    body = b'{"x":[' + b"[]," * 3_000_000 + b"1]}"
    with at_most(units=20), pytest.raises(FormatError, match="the answer holds more than 250,000 values"):
        get_format(wire).parse_reply(body)
    with at_most(units=10):
        assert get_format(wire).parse_error(500, {}, body).status == 500


def test_an_event_of_very_many_values_is_refused_before_they_are_made() -> None:
    stream = get_format("openai").parse_stream()
    with at_most(units=20), pytest.raises(FormatError, match="an event of the stream holds more than"):
        stream.feed(b"data: " + json.dumps([0] * 1_000_000).encode() + b"\n\n")
