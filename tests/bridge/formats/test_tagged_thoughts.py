"""Thoughts in tags in the text of an answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.formats import Wire
from tests.support.wires.openai import answer, chunk
from toolspan_bridge.formats import format_names, openai, openai_responses
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.formats.shared.replies.thoughts import TaggedThoughts, without_thoughts
from toolspan_bridge.messages import Request, User, WireOptions
from toolspan_bridge.messages.deltas import Delta, ReasoningDelta, TextDelta
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


CALL = '<tool_call>{"name": "f", "arguments": {"text": "%s"}}</tool_call>'
HARMONY = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>"


@pytest.mark.requirement("I25.1.3")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Hm.\n</think>\n\nYes.", "Yes."),
        (f"Maybe {CALL}? no.\n</think>\n\nHi", "Hi"),
        (f"Maybe <tool_call>no\n</think>\n\n{CALL}", CALL),
        ("Hm.</think> Hm again.</think>Yes.", "Yes."),
        ("<think>Hm.</think>It ends </think>.", "It ends </think>."),
        ("<think>a</think>\n<think>b</think>\nYes.", "Yes."),
        ("<think >Hm.</think>Yes.", "Yes."),
        *(
            (before + "I ponder." + after, "Yes.")
            for before, after in (
                ("<think>", "</think>\n\nYes."),
                ("<thinking>", "</thinking>\n\nYes."),
                ("", "</thinking>\n\nYes."),
                ("<thought>\n", "\n</thought>\n\nYes."),
                ("<reasoning>", "</reasoning>\nYes."),
                ("<reflection>", "</reflection>\nYes."),
                ("<seed:think>", "</seed:think>Yes."),
                ("", "</seed:think>Yes."),
                ("<mm:think>", "</mm:think>Yes."),
                ("<longcat_think>", "</longcat_think>Yes."),
                ("[THINK]", "[/THINK]Yes."),
                ("", "[/THINK]Yes."),
                ("◁think▷", "◁/think▷Yes."),
                ("<|START_THINKING|>", "<|END_THINKING|>Yes."),
                ("<|inner_prefix|>", "<|inner_suffix|>Yes."),
                ("<|begin_of_thought|>", "<|end_of_thought|>Yes."),
                ("<|channel>thought\n", "<channel|>Yes."),
                ("<unused94>thought\n", "<unused95>Yes."),
                ("Here is my thought process:\n", "\nHere is my response:\nYes."),
                ("<|channel|>analysis<|message|>", HARMONY.partition("{}")[2] + "Yes."),
                ("<|channel|>analysis<|message|>", HARMONY.partition("{}")[2] + "Yes.<|return|>"),
                ("analysis", "assistantfinalYes."),
            )
        ),
        ("Yes.<|im_end|>", "Yes."),
        ("Yes.<|im_end|>\n<|endoftext|>", "Yes."),
        ("A <|im_end|> ends a turn.", "A <|im_end|> ends a turn."),
        ("The tag `</think>` ends thoughts.", "The tag `</think>` ends thoughts."),
        ("It splits at '</think>', you see.", "It splits at '</think>', you see."),
        ("`<think>` is quoted.\n</think>\nYes.", "Yes."),
        (CALL % "a </think> b", CALL % "a </think> b"),
        ('{"tag": "a </think> b"}', '{"tag": "a </think> b"}'),
        ('[{"a": "\\" </think>"}, 1]', '[{"a": "\\" </think>"}, 1]'),
        ('{"draft": 1}\n</think>\n{"sum": 42}', '{"sum": 42}'),
        ("analysis of it: assistantfinally done", "analysis of it: assistantfinally done"),
        ("An assistantfinal word", "An assistantfinal word"),
        ("<thinks>x</thinks>", "<thinks>x</thinks>"),
        ("Here is my thought process", "Here is my thought process"),
        ("a < b and c > d </b>", "a < b and c > d </b>"),
    ],
)
def test_thoughts_are_no_answer_in_whatever_tags_whole_and_streamed(text: str, shown: str) -> None:
    assert openai.parse_reply(answer(text)).message.text == shown
    assert _split(list(text))[0] == _split([text])[0] == shown


@pytest.mark.requirement("I25.1.3")
@pytest.mark.parametrize(
    ("text", "thoughts"),
    [
        ("<think>Hm.</think>Yes.", "Hm."),
        ("Hm.</think>Yes.", "Hm."),
        ("[THINK]Hm.[/THINK]Yes.", "Hm."),
        (HARMONY.format("Hm.") + "Yes.", "Hm."),
        ("<think>never ended", "never ended"),
    ],
)
def test_thoughts_are_told_as_reasoning_whole_and_streamed(text: str, thoughts: str) -> None:
    assert _split(list(text))[1] == _split([text])[1] == thoughts


@pytest.mark.requirement("I25.1.3")
@pytest.mark.parametrize("name", format_names())
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (TAGGED, "In Oslo."),
        (f"Maybe {CALL}? no.\n</think>\n\nHi", "Hi"),
        ("[THINK]Hm.[/THINK]Yes.", "Yes."),
        ("<thinking>I call it.</thinking>\n\nYes.<|im_end|>", "Yes."),
        ("<think>never ended", ""),
        ("The tag `</think>` ends thoughts.", "The tag `</think>` ends thoughts."),
        ("<think>a</think>It ends </think>.", "It ends </think>."),
    ],
)
def test_every_format_tells_thoughts_from_the_answer(name: str, text: str, shown: str) -> None:
    wire = Wire(name)
    stream = wire.format.parse_stream()
    deltas = [delta for frame in wire.answers.frames(text, []) for delta in stream.feed(frame)]
    whole = wire.format.parse_reply(wire.answers.answer(text, []))
    assert whole.message.text == stream.end().message.text == _shown(deltas)[0] == shown
    assert whole.message.calls == ()


@pytest.mark.requirement("I25.1.3")
def test_sources_stay_at_their_words_when_thoughts_before_them_are_taken_away() -> None:
    note = {"type": "url_citation", "url": "https://a.example", "start_index": 18, "end_index": 22}
    early = {**note, "url": "https://b.example", "start_index": 7, "end_index": 10}
    said = {"type": "output_text", "text": "<think>Hm.</think>Oslo it is.", "annotations": [note, early]}
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [said]}
    read = openai_responses.parse_reply({"status": "completed", "output": [item]}).message
    assert [(each.url[8], each.start, each.end) for each in read.citations] == [
        ("a", 0, 4),
        ("b", None, None),
    ]


TAGS = (
    "<think> </think> <th ink> </ [THINK] [/THINK] <tool_call> </tool_call> <|im_end|> <|channel|>analysis "
    "<|message|> <|end|> <|start|>assistant <|channel|>final<|message|> analysis assistantfinal a < `"
)
PIECES = st.sampled_from([*TAGS.split(), " ", "\n"])


@settings(max_examples=500, deadline=None)
@given(st.lists(PIECES, max_size=12))
def test_the_deltas_add_up_to_the_answer_however_it_is_split(pieces: list[str]) -> None:
    whole = "".join(pieces)
    assert _split(pieces) == _split(list(whole)) == _split([whole])
    assert without_thoughts(whole) == _split(pieces)[0]


def _split(pieces: list[str]) -> tuple[str, str]:
    tagged = TaggedThoughts()
    return _shown([*(each for piece in pieces for each in tagged.feed(piece)), *tagged.end()])


def _shown(deltas: Iterable[Delta]) -> tuple[str, str]:
    shown = thoughts = ""
    for delta in deltas:
        if isinstance(delta, TextDelta):
            shown += delta.text
        elif isinstance(delta, ReasoningDelta):
            shown = "" if delta.was_text else shown
            thoughts += delta.text
    return shown, thoughts


@pytest.mark.parametrize(("row", "sent"), [("vllm", "In Oslo."), ("openai", "In Oslo."), ("minimax", TAGGED)])
def test_the_thoughts_go_back_only_to_who_wants_them_in_the_text(row: str, sent: str) -> None:
    message = openai.parse_reply(answer(TAGGED)).message
    request = Request("m", (User("Where?"), message, User("And now?")))
    request = replace(request, wire=WireOptions(chat=row_of(row).chat))
    body = openai.render_request(request, NameTable.of(()))
    assert body["messages"][1] == {"role": "assistant", "content": sent}
