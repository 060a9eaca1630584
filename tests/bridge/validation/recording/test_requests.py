"""A request is known again by hashes of its parts, and what differs of another one is told in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.seed_tools import SEED_TOOLS
from toolspan_bridge import Assistant, Request, ToolOutcome, ToolResults, User
from toolspan_bridge.messages import ToolSpec
from toolspan_bridge.validation.recording.requests import AskedBy

pytestmark = pytest.mark.requirement("I14.2.33")


def result(took: float) -> ToolResults:
    whole = {"success": True, "result": 84, "tool_name": "calculate", "execution_time_ms": took}
    return ToolResults((ToolOutcome("c1", "calculate", whole),))


ASKED = Request("m", (User("What is 12 * 7?"), Assistant("Let me see"), result(1.5)), "Be brief", SEED_TOOLS)


def differences(other: Request) -> list[str]:
    by = AskedBy(lambda text: text.replace("sesame", "***"))
    return list(by.asked(ASKED).differences(by.asked(other), by.seen.get))


@pytest.mark.parametrize(
    "same",
    [
        {"conversation": "another", "stream": True, "cache": False},
        {"messages": (*ASKED.messages[:2], result(70.25))},
    ],
    ids=["what has no part in the answer", "how long a tool took"],
)
def test_a_request_is_the_same_but_for(same: dict[str, Any]) -> None:
    by = AskedBy(str)
    assert by.asked(replace(ASKED, **same)).hash == by.asked(ASKED).hash
    assert differences(replace(ASKED, **same)) == []


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"system": "Be long"}, "the system prompt is another one"),
        ({"max_tokens": 100}, "max_tokens was None and is 100"),
        ({"messages": (User("What?"), *ASKED.messages[1:])}, "message 1, of the user, is another one"),
        ({"messages": ASKED.messages[:1]}, "there are 1 messages where there were 3"),
        (
            {"tools": SEED_TOOLS[1:]},
            f"the tool {SEED_TOOLS[0].server}/{SEED_TOOLS[0].name} is not offered any more",
        ),
        ({"tools": SEED_TOOLS[::-1]}, "the tools are offered in another order"),
        (
            {"tools": (ToolSpec("config", "new", "", {}), *SEED_TOOLS)},
            "the tool config/new is offered too",
        ),
        (
            {"tools": (replace(SEED_TOOLS[0], description="Else"), *SEED_TOOLS[1:])},
            f"the definition of the tool {SEED_TOOLS[0].server}/{SEED_TOOLS[0].name} is another one",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_differs_is_told(other: dict[str, Any], told: str) -> None:
    assert differences(replace(ASKED, **other)) == [told]


def test_a_secret_has_no_part_in_a_hash() -> None:
    by = AskedBy(lambda text: text.replace("sesame", "***"))
    once, again = (by.asked(replace(ASKED, system=f"The word is {word}")) for word in ("sesame", "***"))
    assert once.hash == again.hash
