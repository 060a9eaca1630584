"""Calls that servers make only after a page was visited (the error -32042 of MCP 2025-11-25)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import anyio
import pytest

from tests.support.asking import Person, Waiting, heard
from tests.support.mcp_peers import talker, talker_over_http
from tests.support.waiting import BOUND_S
from toolspan_bridge import ClientFeatures, ClientLimits, Elicited, Elicitor, ServerSpec, Toolbox
from toolspan_bridge.toolbox.reports import CallElicitation, CallElicited, CallNotice

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.2.80")]
ACCEPTED, DONE = Elicited("accept"), Elicited("accept", done=True)


@asynccontextmanager
async def connected(elicitor: Elicitor | None, way: str = "stdio", **limits: Any) -> AsyncGenerator[Toolbox]:
    client = ClientFeatures(elicitor, limits=ClientLimits(**limits))
    with ExitStack() as stack, anyio.fail_after(BOUND_S):
        spec = talker("old")
        if way == "http":
            spec = ServerSpec("talker", kind="http", url=stack.enter_context(talker_over_http()))
        async with Toolbox.connect([spec], client=client, connect_timeout=BOUND_S) as toolbox:
            yield toolbox


@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_the_person_visits_the_pages_and_the_call_is_made_again(way: str) -> None:
    person = Person([DONE])
    async with connected(person, way) as toolbox:
        call = await heard(toolbox, "visited", {"pages": ["a", "b"]})
    assert call.value == "call 2"
    assert [(page.url, page.id, page.precedes_call) for page in person.asked] == [
        ("https://a.example/", "a", True),
        ("https://b.example/", "b", True),
    ]
    assert len(call.of(CallElicitation)) == 2
    assert [report.answer for report in call.of(CallElicited)] == [DONE, DONE]


async def test_the_call_waits_until_the_server_says_that_the_person_is_done() -> None:
    async with connected(Person([ACCEPTED]), page_seconds=2 * BOUND_S) as toolbox:
        call = await heard(toolbox, "visited", {"pages": ["a"], "done": ["x", "a"]})
    assert call.value == "call 2"


async def test_what_the_server_says_is_done_is_not_asked_about_any_longer() -> None:
    person = Waiting()
    async with connected(person) as toolbox:
        call = await heard(toolbox, "visited", {"pages": ["a"], "done": ["a"]})
    assert call.value == "call 2"
    assert person.left.is_set() or not person.asked.is_set()


async def test_a_server_that_does_not_say_it_is_waited_for_within_a_limit_that_is_named() -> None:
    async with connected(Person([ACCEPTED]), page_seconds=0.05) as toolbox:
        call = await heard(toolbox, "visited", {"pages": ["a"], "done": ["another"]})
    assert call.value == "call 2"
    waits, late = (notice.text for notice in call.of(CallNotice))
    assert (
        waits
        == "visited waits for the server 'talker' to say that you are done at a.example, for 0.05 s at most"
    )
    assert "did not say so within 0.05 s (client.page_timeout_ms)" in late


@pytest.mark.parametrize(("action", "why"), [("decline", "was declined"), ("cancel", "was not answered")])
async def test_a_page_that_is_not_visited_ends_the_call_with_the_reason(action: Any, why: str) -> None:
    async with connected(Person([Elicited(action)])) as toolbox:
        call = await heard(toolbox, "visited", {"pages": ["a"]})
        again = await heard(toolbox, "told")
    assert call.outcome.result["error_code"] == "input_refused"
    assert f"visiting a page of a.example {why}" in call.value
    assert again.outcome.result["success"] is True


async def test_without_somebody_to_ask_and_without_an_end_the_call_fails_and_says_so() -> None:
    arguments = {"pages": ["a"], "times": 99}
    async with connected(None) as toolbox:
        assert "does not support elicitation" in (await heard(toolbox, "visited", arguments)).value
    person = Person([DONE])
    async with connected(person, rounds=3) as toolbox:
        call = await heard(toolbox, "visited", arguments)
    assert (call.outcome.result["error_code"], len(person.asked)) == ("input_refused", 3)
    assert "wanted pages visited more than 3 times" in call.value


PAGE: dict[str, Any] = {"mode": "url", "message": "?", "url": "https://x.example", "elicitationId": "1"}
NO_PAGES: list[tuple[Any, str]] = [
    (None, "Sign in first"),
    ({"elicitations": "all"}, "Sign in first"),
    ({"elicitations": [{"mode": "form", "message": "?", "requestedSchema": {}}]}, "the mode url"),
    ({"elicitations": [{**PAGE, "elicitationId": None}]}, "elicitationId"),
    ({"elicitations": [{**PAGE, "url": "file:///x"}]}, "address of a page"),
    ({"elicitations": [PAGE] * 17}, "more than 16 pages"),
]


@pytest.mark.parametrize(("data", "said"), NO_PAGES)
async def test_what_is_no_page_is_never_shown(data: Any, said: str) -> None:
    person = Person([DONE])
    async with connected(person) as toolbox:
        call = await heard(toolbox, "visited", {"pages": [], "error": {"data": data}})
    assert (person.asked, call.outcome.result["success"]) == ([], False)
    assert said in call.value
