"""Rewordings: by rules from failures, by a model whose answer is data, and the half that tests them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from toolspan_bridge.errors import UsageError
from toolspan_bridge.messages import ToolSpec
from toolspan_bridge.validation import Suite, Trial
from toolspan_bridge.validation.definitions_ab import Rewording, by_model, by_rules, halves, reworded

pytestmark = pytest.mark.requirement("I14.3.32")

UNITS = {"type": "string", "enum": ["celsius", "kelvin"], "description": "The units"}
WEATHER = ToolSpec("s", "weather", "The weather now", {"type": "object", "properties": {"units": UNITS}})
FORECAST = ToolSpec("s", "forecast", "The weather of the next days", {"type": "object"})


def failed(expected: list[str], called: list[str], error: str = "") -> Trial:
    told: dict[str, Any] = {"calls": expected} if expected else {"no_calls": True}
    details = {"query": "Rain?", "expected": told, "tool_calls": [{"tool": name} for name in called]}
    return Trial("a/x", "s", "one", "2026-01-01", False, error, details)


def test_confused_tools_tell_each_other_apart_and_nothing_else_changes() -> None:
    forecast, weather = by_rules([failed(["weather"], ["forecast"])], [WEATHER, FORECAST])
    assert (forecast.place, weather.place) == ("forecast", "weather")
    assert forecast.description == (
        "The weather of the next days. Not for this: The weather now. That is what weather is for."
    )
    assert weather.description == "The weather now. Call this one, not forecast, for it."
    assert forecast.reason == "forecast was called for weather"
    changed = reworded(FORECAST, [forecast, weather])
    assert (changed.name, changed.schema) == ("forecast", FORECAST.schema)
    assert by_rules([failed(["weather"], ["forecast"])], [reworded(WEATHER, [weather]), changed]) == []


def test_a_wrong_argument_has_what_its_schema_allows_told() -> None:
    error = 'weather: argument \'units\' was "C", expected "celsius"'
    [found] = by_rules([failed(["weather"], ["weather"], error)], [WEATHER])
    assert (found.place, found.description) == ("weather.units", 'The units. One of "celsius", "kelvin".')
    properties = reworded(WEATHER, [found]).schema["properties"]
    assert properties == {"units": {**UNITS, "description": found.description}}
    assert WEATHER.schema["properties"] == {"units": UNITS}


def test_called_without_need_or_not_called() -> None:
    [idle] = by_rules([failed([], ["forecast"])], [FORECAST])
    assert idle.description.endswith("Call it only when the user asks for this.")
    [missed] = by_rules([failed(["forecast"], [])], [FORECAST])
    assert missed.description.endswith("Call it for this instead of answering without it.")


def test_successes_and_errors_say_nothing_of_descriptions() -> None:
    details = {"expected": {"calls": ["weather"]}, "tool_calls": []}
    good = Trial("a/x", "s", "one", "2026-01-01", True, "", details)
    broken = Trial("a/x", "s", "one", "2026-01-01", False, "429", details, is_error=True)
    assert by_rules([good, broken], [WEATHER]) == []


@pytest.mark.anyio
async def test_what_a_model_proposes_is_data_for_what_there_is() -> None:
    proposed = [
        {"tool": "weather", "parameter": "", "description": "Now\x1b[31m,\nhere", "reason": "clearer"},
        {"tool": "weather", "parameter": "", "description": "A second one", "reason": ""},
        {"tool": "weather", "parameter": "units", "description": "In which units", "reason": ""},
        {"tool": "weather", "parameter": "other", "description": "x", "reason": ""},
        {"tool": "unknown", "parameter": "", "description": "x", "reason": ""},
        {"tool": "forecast", "parameter": "", "description": "x" * 1_025, "reason": ""},
        {"tool": "forecast", "parameter": "", "description": FORECAST.description, "reason": "the same"},
        "nothing",
    ]

    async def ask(text: str, schema: Mapping[str, Any]) -> Any:
        assert "Rain?" in text and "rewordings" in schema["properties"]
        return {"rewordings": proposed}

    found = await by_model([failed(["weather"], [])], [WEATHER, FORECAST], ask)
    assert found == [
        Rewording("weather", "", "Now [31m, here", "clearer"),
        Rewording("weather", "units", "In which units", ""),
    ]


@pytest.mark.anyio
async def test_without_failures_no_model_is_asked() -> None:
    async def ask(text: str, schema: Mapping[str, Any]) -> Any:
        raise AssertionError(text, schema)

    assert await by_model([], [WEATHER], ask) == []


def scenarios(count: int, tool: str) -> list[dict[str, Any]]:
    return [
        {"name": f"{tool} {n}", "query": "x", "expect": {"calls": [{"tool": tool}]}} for n in range(count)
    ]


def test_the_halves_share_nothing_are_the_same_in_any_order_and_have_every_tool() -> None:
    every = [*scenarios(5, "a"), *scenarios(4, "b")]
    first = [{each.title for each in half.scenarios} for half in halves(suite(every))]
    second = [{each.title for each in half.scenarios} for half in halves(suite(every[::-1]))]
    assert first == second and not first[0] & first[1] and len(first[0] | first[1]) == 9
    assert all({title[0] for title in half} == {"a", "b"} for half in first)
    assert [half.name for half in halves(suite(every))] == ["s, looked at", "s, held out"]
    with pytest.raises(UsageError, match="two scenarios"):
        halves(suite(every[:1]))


def suite(found: list[dict[str, Any]]) -> Suite:
    return Suite.model_validate({"name": "s", "scenarios": found})
