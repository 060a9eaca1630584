"""Queries that a model words anew keep their values, or stay as they were."""

from __future__ import annotations

import re

import pytest

from toolspan_bridge import ProviderError
from toolspan_bridge.validation.generation import Draft, Subject, generate, rewritten

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I14.1.64")]

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city", "days"],
}
DRAFTS = generate([Subject("get_forecast", "Get the forecast for a city", SCHEMA)]).drafts


async def test_words_that_hold_every_value_are_taken() -> None:
    async def ask(question: str) -> str:
        return "Tell me: " + ", ".join(re.findall("`([^`]*)`", question))

    done = await rewritten(DRAFTS, ask)
    assert done.kept == ()
    for before, after in zip(DRAFTS, done.drafts, strict=True):
        as_it_was = before.category in ("irrelevance", "missing_parameter")
        assert after.query == before.query if as_it_was else after.query.startswith("Tell me: ")
        assert after.expect == before.expect


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "no short text"),
        ("Two\nlines with {said}", "no short text"),
        ("Long " * 200 + "{said}", "no short text"),
        ("Something else", "is not in it"),
        ("{said}0, glued together", "is not in it"),
    ],
)
async def test_other_words_are_not_and_that_is_said(answer: str, why: str) -> None:
    draft = Draft(name="a", category="selection", query="Do 12 of it.", expect={"calls": []}, said=["12"])

    async def ask(question: str) -> str:
        return answer.replace("{said}", "12")

    done = await rewritten([draft], ask)
    assert done.drafts == (draft,)
    assert [name for name, reason in done.kept if why in reason] == ["a"]


async def test_an_error_of_the_provider_keeps_the_query() -> None:
    async def ask(question: str) -> str:
        raise ProviderError("overloaded")

    done = await rewritten(DRAFTS[:1], ask)
    assert (done.drafts, done.kept) == (DRAFTS[:1], ((DRAFTS[0].name, "overloaded"),))
