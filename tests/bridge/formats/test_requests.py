"""What a request may ask for: each format says it, or leaves it out where its provider has no word for it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.support.formats import TOOLS, Wire
from tests.support.outcomes import JPEG, PDF, PNG, SVG, part, said, succeeded
from toolspan_bridge.formats import builtin_names, format_names
from toolspan_bridge.messages import (
    Assistant,
    ToolCall,
    ToolResults,
    User,
    WireOptions,
)

SEARCHES = "gpt-4o-search-preview"
"""A model of OpenAI's that takes a search in Chat Completions; most take none."""

pytestmark = pytest.mark.requirement("I5.1.1")

SOUND = "UklGRiQAAABXQVZF"


@pytest.fixture(params=format_names())
def wire(request: pytest.FixtureRequest) -> Wire:
    return Wire(request.param)


def sent(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False)


def test_a_stream_is_asked_for_and_changes_nothing_else(wire: Wire) -> None:
    whole, streamed = wire.render(User("hi")), wire.render(User("hi"), stream=True)
    for body in (whole, streamed):
        body.pop("stream", None)
        body.pop("stream_options", None)
    assert streamed == whole


@pytest.mark.parametrize("thinking", [False, True])
@pytest.mark.parametrize("tool", ["weather", "time"])
def test_one_tool_can_be_forced(wire: Wire, tool: str, thinking: bool) -> None:
    free = wire.render(User("hi"), wire=WireOptions(thinking=thinking))
    forced = wire.render(User("hi"), tool_choice=("s", tool), wire=WireOptions(thinking=thinking))
    assert forced != free and f"s__{tool}" in sent(forced)


def test_a_forced_tool_that_is_not_there_leaves_the_model_free(wire: Wire) -> None:
    assert wire.render(User("hi"), tool_choice=("s", "gone")) == wire.render(User("hi"))
    assert wire.render(User("hi"), tool_choice=("s", "gone"), tools=()) == wire.render(User("hi"), tools=())


@pytest.mark.parametrize("thinking", [False, True])
@pytest.mark.parametrize("choice", ["auto", "none", "required", ("s", "time")])
@pytest.mark.parametrize("parallel", [None, False, True])
def test_parallel_calls_can_be_chosen_with_every_choice(
    wire: Wire, parallel: bool | None, choice: Any, thinking: bool
) -> None:
    options = {"parallel": parallel, "tool_choice": choice, "wire": WireOptions(thinking=thinking)}
    wire.render(User("hi"), **options)
    wire.render(User("hi"), tools=(), **options)


@pytest.mark.requirement("I5.1.5")
def test_the_providers_own_tools_stand_beside_ours_or_alone(wire: Wire) -> None:
    model = {"model": SEARCHES} if wire.name in ("openai", "prompt") else {}
    for name in builtin_names(wire.name):
        for tools in ((), TOOLS):
            body = wire.render(User("hi"), tools=tools, builtins=(name, name), **model)
            assert body != wire.render(User("hi"), tools=tools, **model)
            assert all(f"s__{tool.name}" in sent(body) for tool in tools)


@pytest.mark.requirement("I5.1.5")
def test_a_tool_that_the_provider_does_not_have_is_not_sent(wire: Wire) -> None:
    assert wire.render(User("hi"), builtins=("fortune_telling",)) == wire.render(User("hi"))


def test_a_strict_tool_is_sent_strictly_or_the_loss_is_reported(wire: Wire) -> None:
    strict = tuple(replace(tool, strict=True) for tool in TOOLS)
    body = wire.render(User("hi"), tools=strict)
    reported = [loss for loss in wire.format.losses(strict) if loss.rule == "not-strict"]
    assert sent(body).count('"strict": true') + len(reported) == len(strict)


FILES = {
    "a picture": part("image", data=PNG, mimeType="image/png"),
    "a photo named as what it is not": part("image", data=JPEG, mimeType="image/png"),
    "a drawing": part("image", data=SVG, mimeType="image/svg+xml"),
    "sound": part("audio", data=SOUND, mimeType="audio/wav"),
    "a document": part("resource", resource={"uri": "f.pdf", "mimeType": "application/pdf", "blob": PDF}),
    "a text": part("resource", resource={"uri": "n.txt", "mimeType": "text/plain", "text": "nota bene"}),
    "a link": part("resource_link", uri="https://x.test/y", name="y"),
}


@pytest.mark.requirement("I5.1.4")
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("able", [False, True])
def test_what_comes_with_a_question_is_carried_or_told(wire: Wire, file: str, able: bool) -> None:
    given = FILES[file]
    text = sent(wire.render(User("Look:", (given,)), vision=able, audio=able))
    data = given.data.get("data") or given.data.get("resource", {}).get("blob", "")
    words = ("omitted", "nota bene", "https://x.test/y")
    assert "Look:" in text
    assert bool(data and data in text) != any(word in text for word in words)


@pytest.mark.requirement("I5.1.4")
def test_a_question_may_be_files_alone(wire: Wire) -> None:
    text = sent(wire.render(User("", (FILES["a picture"], FILES["a text"]))))
    assert PNG in text and "nota bene" in text


@pytest.mark.requirement("I5.1.4")
def test_sound_from_tools_is_carried_or_told(wire: Wire) -> None:
    outcome = succeeded(said("listen"), FILES["sound"])
    history = (User("hi"), Assistant(calls=(ToolCall("c1", "s__time", {}),)), ToolResults((outcome,)))
    for able in (False, True):
        text = sent(wire.render(*history, audio=able))
        assert (SOUND in text) != ("[audio/wav omitted" in text)
