"""Calls of earlier turns as they are sent again: to whom made them, and to others."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from toolspan_bridge.formats.shared.conversation.history import AssistantTurn, ToolResultsTurn, turns
from toolspan_bridge.messages import Assistant, ToolCall, ToolOutcome, ToolResults, User

LEGAL = re.compile("[a-z0-9_]+")


def sent_ids(message: Assistant) -> list[str]:
    outcomes = tuple(ToolOutcome(call.id, call.name, {"success": True}) for call in message.calls)
    made = turns((User("hi"), message, ToolResults(outcomes)), LEGAL)
    answered = [[sent.id for sent, _ in turn.results] for turn in made if isinstance(turn, ToolResultsTurn)]
    called = [[call.id for call in turn.calls] for turn in made if isinstance(turn, AssistantTurn)]
    assert answered == called
    return called[0]


@pytest.mark.requirement("I25.3.1")
@pytest.mark.parametrize("ids", [["functions.weather:0"], ["functions.weather:0", "functions.time:1"], ["é"]])
def test_ids_go_back_to_their_provider_as_they_came_and_in_another_form_to_another(ids: list[str]) -> None:
    message = Assistant("", tuple(ToolCall(each, "s__weather", {}) for each in ids), origin="kimi")
    assert sent_ids(message) == ids
    elsewhere = sent_ids(replace(message, origin=""))
    assert all(LEGAL.fullmatch(each) for each in elsewhere) and len(set(elsewhere)) == len(ids)


@pytest.mark.requirement("I25.3.1")
@pytest.mark.parametrize("name", ["get the weather!", "functions.weather", "x" * 80, "", "9lives"])
def test_a_name_that_no_tool_has_is_sent_back_without_anything_added(name: str) -> None:
    made = turns((User("hi"), Assistant("", (ToolCall("c1", name, {}),))), LEGAL)
    sent = next(turn for turn in made if isinstance(turn, AssistantTurn)).calls[0].name
    assert re.fullmatch("[A-Za-z_][A-Za-z0-9_-]{0,63}", sent)
    assert re.sub(r"[^A-Za-z0-9_-]", "_", name).startswith(sent.removeprefix("_") if sent != name else name)
