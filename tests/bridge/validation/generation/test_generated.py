"""Suites made of tools: what a perfect model passes, and what one that never calls fails."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.real_tools import servers
from tests.support.scenario_models import faults_of, never_calls, perfect, toolbox_of
from toolspan_bridge.messages import ToolSpec
from toolspan_bridge.validation import Suite, load_suite
from toolspan_bridge.validation.generation import Generated, Subject, generate, generated_text, subject_of

pytestmark = pytest.mark.anyio

CALLED = {"selection", "parallel", "sequential", "error_recovery", "long_lists", "perturbed"}
"""The categories that expect calls."""


def written(generated: Generated, folder: Path) -> Suite:
    path = folder / "suite.yaml"
    path.write_text(generated_text(generated, "made", ["Two lines,", "of words."]), "utf-8")
    return load_suite(path)


def made_of(server: str, seed: int = 1) -> Generated:
    return generate(map(subject_of, servers()[server]), seed)


def shuffled(value: Any, dice: random.Random) -> Any:
    """The same JSON, its objects' keys in another order."""
    if isinstance(value, Mapping):
        items = [(key, shuffled(part, dice)) for key, part in value.items()]
        dice.shuffle(items)
        return dict(items)
    return [shuffled(each, dice) for each in value] if isinstance(value, list) else value


async def failing_tags(suite: Suite, tools: tuple[ToolSpec, ...], model: Any) -> dict[str, set[bool]]:
    """For each tag whether scenarios failed with ``model``."""
    found: dict[str, set[bool]] = defaultdict(set)
    for scenario in suite.scenarios:
        faults = await faults_of(scenario, model(scenario), toolbox_of(tools))
        found[scenario.tags[0]].add(bool(faults))
    return found


@pytest.mark.requirement("I14.1.60")
async def test_a_perfect_model_passes_and_one_that_never_calls_fails_what_expects_calls(
    tmp_path: Path,
) -> None:
    tools = servers()["context7"]
    generated = made_of("context7")
    suite = written(generated, tmp_path)
    assert not suite.faults_with(tools)
    assert {scenario.tags[0] for scenario in suite.scenarios} == {*CALLED, "irrelevance", "missing_parameter"}
    assert await failing_tags(suite, tools, perfect) == {tag: {False} for tag in generated.counts}
    assert await failing_tags(suite, tools, never_calls) == {tag: {tag in CALLED} for tag in generated.counts}


@pytest.mark.long
@pytest.mark.requirement("I14.1.60")
@pytest.mark.parametrize("server", sorted(servers()))
async def test_suites_of_real_tools_can_be_passed_whole(server: str, tmp_path: Path) -> None:
    tools = servers()[server]
    suite = written(made_of(server, 7), tmp_path)
    assert not suite.faults_with(tools)
    for scenario in suite.scenarios:
        assert await faults_of(scenario, perfect(scenario), toolbox_of(tools)) == (), scenario.query
        fails = bool(await faults_of(scenario, never_calls(scenario), toolbox_of(tools)))
        assert fails is (scenario.tags[0] in CALLED), scenario.query


@pytest.mark.requirement("I14.1.61")
def test_the_same_tools_and_seed_give_the_same_text_in_whatever_order_they_come() -> None:
    dice = random.Random(3)
    subjects = [subject_of(tool) for tool in servers()["time"]]
    other = [Subject(each.name, each.description, shuffled(each.schema, dice)) for each in reversed(subjects)]
    text = generated_text(generate(subjects, 5), "made", [])
    assert generated_text(generate(other, 5), "made", []) == text
    assert generated_text(generate(subjects, 6), "made", []) != text


@pytest.mark.requirement("I14.1.61")
def test_one_more_tool_leaves_the_queries_of_the_others_as_they_are() -> None:
    sums = Subject("add_numbers", "Add two numbers", {"type": "object", "required": ["a", "b"]})
    both = generate([*map(subject_of, servers()["time"]), sums])
    one = generate(map(subject_of, servers()["time"]))
    of_time = {draft.query for draft in one.drafts if draft.category == "selection"}
    assert of_time <= {draft.query for draft in both.drafts}


@pytest.mark.requirement("I14.1.62")
def test_tools_own_examples_are_asked_for_with_their_results() -> None:
    schema = {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}
    examples = [
        {"arguments": {"sku": "nothing"}, "error": "not found"},
        {"arguments": {"sku": "K-77-blue"}, "result": {"stock": 4}},
    ]
    generated = generate([Subject("get_stock", "Get the stock of a product", schema, examples=examples)])
    draft = next(each for each in generated.drafts if each.category == "selection")
    assert draft.expect == {"calls": [{"tool": "get_stock", "arguments": {"sku": "K-77-blue"}}]}
    assert draft.results == {"get_stock": [{"stock": 4}]}
    assert "K-77-blue" in draft.query


@pytest.mark.requirement("I14.1.62")
@pytest.mark.parametrize(
    ("name", "schema", "why"),
    [
        (
            "deep",
            {
                "properties": {
                    "a": {
                        "items": {"items": {"items": {}, "type": "array"}, "type": "array"},
                        "type": "array",
                    }
                },
                "required": ["a"],
            },
            "too deep",
        ),
        (
            "many",
            {
                "properties": {"a": {"type": "array", "items": {"type": "string"}, "minItems": 9}},
                "required": ["a"],
            },
            "9 items",
        ),
        (
            "none",
            {"properties": {"a": {"type": "string", "pattern": "^(?=x)y$"}}, "required": ["a"]},
            "no value is known",
        ),
        ("never", {"properties": {"a": False}, "required": ["a"]}, "no value is known"),
        (
            "outside",
            {"properties": {"a": {"$ref": "https://example.com/a.json"}}, "required": ["a"]},
            "outside",
        ),
    ],
)
def test_what_no_sentence_can_say_is_told_with_the_reason(name: str, schema: Any, why: str) -> None:
    generated = generate([Subject(name, "Update the settings", {"type": "object", **schema})])
    assert [(each.tool, each.category) for each in generated.left_out] == [(name, "selection")]
    assert why in generated.left_out[0].why


@pytest.mark.requirement("I14.1.62")
def test_a_tool_that_another_one_serves_as_well_is_told_apart_or_left_out() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    same = "Read the contents of a file"
    generated = generate([Subject("read_file", same, schema), Subject("read_file_now", same, schema)])
    queries = {draft.query for draft in generated.drafts if draft.category == "selection"}
    left = {each.tool for each in generated.left_out}
    assert len(queries) + len(left) == 2
    twice = generate([Subject("read", same, schema), Subject("read", same, schema)])
    assert [each.why for each in twice.left_out if "several servers" in each.why]
