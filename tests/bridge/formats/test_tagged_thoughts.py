"""Thoughts in ``<think>`` tags at the start of a Chat Completions answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.wires.openai import answer, chunk
from toolspan_bridge.formats import openai
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.formats.openai.tagged_thoughts import TaggedThoughts, without_thoughts
from toolspan_bridge.messages import Request, User, WireOptions
from toolspan_bridge.messages.deltas import ReasoningDelta, TextDelta
from toolspan_bridge.providers.compatible.rows import row_of

pytestmark = pytest.mark.requirement("I11.1.23")

TAGGED = "<think>\nWhich city?\n</think>\n\nIn Oslo."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (TAGGED, "In Oslo."),
        ("\n <think></think>Yes.", "Yes."),
        ("<think>a</think>b<think>c</think>", "b<think>c</think>"),
        ("<think>cut off", ""),
        ("The tag <think>x</think> is for thoughts.", "The tag <think>x</think> is for thoughts."),
        ("`<think>x</think>`", "`<think>x</think>`"),
        ("<thinking>x</thinking>", "<thinking>x</thinking>"),
        ("  two spaces", "  two spaces"),
    ],
)
def test_what_stands_in_tags_at_the_start_is_no_answer(text: str, shown: str) -> None:
    assert openai.parse_reply(answer(text)).message.text == shown


def test_a_stream_tells_the_thoughts_as_reasoning() -> None:
    stream = openai.parse_stream()
    deltas = [delta for piece in TAGGED for delta in stream.feed(chunk({"content": piece}))]
    thought = "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))
    shown = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    assert (thought, shown) == ("\nWhich city?\n", "In Oslo.")


PIECES = st.sampled_from(["<think>", "</think>", "<th", "ink>", "</", "think>", " ", "\n", "a", "<"])


@given(st.lists(PIECES, max_size=12))
def test_the_deltas_add_up_to_the_answer_however_it_is_split(pieces: list[str]) -> None:
    split = TaggedThoughts()
    deltas = [delta for piece in pieces for delta in split.feed(piece)] + list(split.end())
    shown = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    assert shown == without_thoughts("".join(pieces))


@pytest.mark.parametrize(("row", "sent"), [("vllm", "In Oslo."), ("openai", "In Oslo."), ("minimax", TAGGED)])
def test_the_thoughts_go_back_only_to_who_wants_them_in_the_text(row: str, sent: str) -> None:
    message = openai.parse_reply(answer(TAGGED)).message
    request = Request("m", (User("Where?"), message, User("And now?")))
    request = replace(request, wire=WireOptions(chat=row_of(row).chat))
    body = openai.render_request(request, NameTable.of(()))
    assert body["messages"][1] == {"role": "assistant", "content": sent}
