"""The sources that a provider names for its words: kept as data, shown after the answer, saved."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import toolspan
from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.wire_peers import Peer, streamed
from tests.support.wires.openai_responses import message, whole
from tests.support.wires.openai_responses import stream as frames_of
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.events import Answer
from toolspan_bridge.loop import Question, answer
from toolspan_bridge.messages import Assistant, Citation, Message, Reply
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_bridge.toolbox import Toolbox

pytestmark = pytest.mark.requirement("I11.3.5")

FIRST, SECOND = "It is mild. ", "Seven degrees."
MET, YR = "https://met.example", "https://yr.example"


def cited(text: str, *notes: dict[str, Any]) -> dict[str, Any]:
    said = message(text)
    said["content"][0]["annotations"] = [{"type": "url_citation", **note} for note in notes]
    return said


BODY = whole(
    [
        {**cited(FIRST, {"url": MET, "title": "Met", "start_index": 6, "end_index": 10}), "id": "msg_0"},
        cited(
            SECOND,
            {"url": YR, "title": "Yr", "start_index": 0, "end_index": 5},
            {"url": MET, "title": "Met", "start_index": 6, "end_index": 999},
            {"type": "file_citation", "file_id": "f", "index": 3},
        ),
    ]
)
FOUND = (Citation(MET, "Met", 6, 10), Citation(YR, "Yr", 14, 19), Citation(MET, "Met"))


async def asked(sent: Sent, *, stream: bool, transcript: list[Message]) -> Answer:
    with FakeProvider(anything, [sent]) as fake:
        async with aclosing(Peer("openai-responses", fake.url)) as provider, Toolbox.connect([]) as box:
            return await answer(Question("?", "m", stream=stream), provider, box, transcript)


@pytest.mark.anyio
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_the_sources_of_an_answer_are_placed_in_its_text_and_kept_with_it(stream: bool) -> None:
    sent = streamed("openai-responses", *frames_of(BODY)) if stream else Sent(BODY)
    transcript: list[Message] = []
    given = await asked(sent, stream=stream, transcript=transcript)
    assert given.citations == FOUND
    assert [given.content[each.start : each.end] for each in given.citations[:2]] == ["mild", "Seven"]
    assert given.as_dict()["citations"][2] == {"url": MET, "title": "Met"}
    kept = Conversation.from_json(Conversation(transcript).to_json()).messages[-1]
    assert isinstance(kept, Assistant) and kept.citations == FOUND


@pytest.mark.anyio
async def test_sources_of_a_paused_turn_belong_to_the_answer_that_goes_on_with_it() -> None:
    paused = Reply(Assistant("So: ", opaque=[1], citations=(Citation(MET, start=0, end=2),)), "pause")
    last = Reply(Assistant("mild.", citations=(Citation(YR, start=0, end=4),)))
    async with Toolbox.connect([]) as box:
        given = await answer(Question("?", "m"), Scripted([paused, last]), box)
    assert [(each.url, given.content[each.start : each.end]) for each in given.citations] == [
        (MET, "So"),
        (YR, "mild"),
    ]


def test_the_sources_are_a_numbered_list_after_the_answer_and_data_in_json(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with FakeProvider(anything, [Sent(BODY), Sent(BODY)]) as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        shown = toolspan("ask", "?", "-m", "openai-responses/m", cwd=tmp_path)
        told = toolspan("ask", "?", "-m", "openai-responses/m", "--json", cwd=tmp_path)
    assert shown.out == f"{FIRST}\n\n{SECOND}\n\n[1] Met {MET}\n[2] Yr {YR}\n"
    assert told.json["citations"] == [each.as_dict() for each in FOUND]
