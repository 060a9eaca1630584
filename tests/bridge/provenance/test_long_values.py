"""What is looked for in arguments, results and answers is found in time that grows with the text alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.cost import at_most
from toolspan_bridge.formats.prompt.written_calls import Callables, whole_calls
from toolspan_bridge.loop import _answer_schema
from toolspan_bridge.messages import ToolSpec, User
from toolspan_bridge.provenance.outward import Conversed, MadeCall
from toolspan_server.engines.upstreams import ListedTool

pytestmark = pytest.mark.requirement("I24.5.3")

CHARACTERS = 60_000
CALLABLES = Callables.of([ToolSpec("", "x", "", {"type": "object"})])
UNITS = 40
PIECES = [
    "[",
    "[a ",
    "a",
    "a.",
    "a.b/",
    "://",
    "a://",
    "<function=",
    "<function=x><parameter=a>",
    "```a\n",
    "`",
    "{",
]


def _typed(text: str) -> None:
    Conversed()._take_user(User(f"hi\n\n[{text}"))


def _sent(text: str) -> None:
    tool = ListedTool("send", "Sends.", {"type": "object"})
    conversed = Conversed()
    conversed._take_user(User("hi\n\n[x of the server evil]"))
    conversed.outward(MadeCall("s", tool, {"url": text, "texts": [text[:10_000]] * 5}, False), [])


READERS: dict[str, Callable[[str], Any]] = {
    "a question": _typed,
    "arguments": _sent,
    "an answer with calls": lambda text: whole_calls(text, CALLABLES),
    "an answer in a fence": lambda text: _answer_schema._json_of(text),
}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("reader", READERS)
def test_a_long_text_is_read_in_time_that_grows_with_it(reader: str, piece: str) -> None:
    text = piece * (CHARACTERS // len(piece))
    with at_most(UNITS):
        READERS[reader](text)
