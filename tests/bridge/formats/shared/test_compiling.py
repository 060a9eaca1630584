"""What compiling a schema leaves undone makes no difference: steps not needed, schemas shared or not sent."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.support import schemas
from toolspan_bridge.formats import get_format
from toolspan_bridge.formats.gemini import plan as gemini
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.formats.ollama import render as ollama
from toolspan_bridge.formats.openai import render as openai
from toolspan_bridge.formats.shared.claude import tools
from toolspan_bridge.formats.shared.json_values import as_object, clean
from toolspan_bridge.formats.shared.schemas import (
    ANTHROPIC_STRICT,
    OPENAI_STRICT,
    Plan,
    Unrenderable,
    compile_schema,
)
from toolspan_bridge.formats.shared.schemas._compile import _shared
from toolspan_bridge.formats.shared.schemas._modern import is_modern
from toolspan_bridge.formats.shared.schemas._refs import localise
from toolspan_bridge.formats.shared.schemas._upgrade import strip, upgrade
from toolspan_bridge.formats.shared.schemas._walk import Conditional, object_schemas_in
from toolspan_bridge.messages import Request, ToolSpec, User

pytestmark = [pytest.mark.long, pytest.mark.requirement("I9.4.7")]

PLANS = [tools.PLAN, gemini.PLAN, ollama.PLAN, openai.PLAN, ANTHROPIC_STRICT.plan, OPENAI_STRICT.plan]
STEPS = {id(step): step for plan in PLANS for step in plan.steps if isinstance(step, Conditional)}
THOROUGH = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PLAIN = {"type": "object", "properties": {"a": {"type": "integer", "enum": [1, 2]}}, "required": ["a"]}


def canonical(schema: dict[str, Any]) -> dict[str, Any] | None:
    try:
        return strip(upgrade(localise(as_object(clean(schema)) or {})[0])[0])[0]
    except Unrenderable:
        return None


@THOROUGH
@given(schema=schemas.SCHEMAS)
def test_a_step_that_is_not_needed_would_change_nothing(schema: dict[str, Any]) -> None:
    sent = canonical(schema)
    parts = [] if sent is None else list(object_schemas_in(sent))
    for part in [part for part in parts if part is sent or "$ref" not in str(part)]:
        inside = list(object_schemas_in(part))
        for step in STEPS.values():
            if not step.needed(inside):
                changed, changes = step(part)
                assert (repr(changed), changes) == (repr(part), [])


@THOROUGH
@given(schema=schemas.SCHEMAS | schemas.CASES.map(lambda case: case[0]))
def test_a_schema_in_the_words_of_2020_12_needs_no_upgrade(schema: dict[str, Any]) -> None:
    for part in object_schemas_in(clean(schema)):
        if is_modern(part):
            upgraded, extensions = strip(upgrade(localise(part)[0])[0])
            assert (repr(upgraded), extensions) == (repr(part), [])


def test_plain_schemas_are_in_the_words_of_2020_12() -> None:
    assert is_modern(PLAIN)
    assert not is_modern({**PLAIN, "required": True})
    assert not is_modern({**PLAIN, "x-order": 1})


def test_schemas_that_say_the_same_are_compiled_once() -> None:
    plan = Plan()
    assert compile_schema(dict(PLAIN), plan) is compile_schema(dict(PLAIN), plan)


@pytest.mark.parametrize("other", [True, 1.0, "1", None])
def test_schemas_that_differ_only_in_the_type_of_a_value_are_told_apart(other: Any) -> None:
    plan = Plan()
    ours, theirs = ({"type": "object", "properties": {"a": {"const": value}}} for value in (1, other))
    sent = [compile_schema(schema, plan).schema["properties"]["a"]["const"] for schema in (ours, theirs)]
    assert [repr(value) for value in sent] == ["1", repr(other)]


def test_schemas_that_differ_in_the_order_of_keys_are_told_apart() -> None:
    plan = Plan()
    names = [["a", "b"], ["b", "a"]]
    schemas_ = [{"type": "object", "properties": {name: {} for name in order}} for order in names]
    assert [list(compile_schema(schema, plan).schema["properties"]) for schema in schemas_] == names


def test_tools_beyond_the_limit_are_left_out_and_each_is_compiled_once_for_its_own_losses() -> None:
    good = [ToolSpec("s", f"t{number:04}", "d", {**PLAIN, "title": f"T {number}"}) for number in range(300)]
    bad = ToolSpec("s", "t9999", "d", {"$ref": "https://example.org/far"})
    before = _shared.cache_info().misses
    body, losses = rendered([*good, bad])
    assert len(body["tools"]) == 128
    assert _shared.cache_info().misses - before == 301
    assert [loss.rule for loss in losses] == ["external-ref", *["too-many-tools"] * 172]
    assert losses[-1].repair == "tool left out: 300 tools, 128 at most, so 172 are left out"


def rendered(tools: Sequence[ToolSpec]) -> tuple[dict[str, Any], Sequence[Any]]:
    module = get_format("openai")
    body = module.render_request(Request("m", (User("hi"),), tools=tuple(tools)), NameTable.of(tools))
    return body, module.losses(tools)


_RENDER = """
import json
from toolspan_bridge.formats import format_names, get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import Request, ToolSpec, User

either = {"title": "T", "description": "d", "type": ["integer", "boolean"], "const": "x"}
schema = {"type": "object", "properties": {"b": either, "a": {"type": "string"}}}
tools = (ToolSpec("s", "t", "d", schema, strict=True),)
for name in format_names():
    request = Request("m", (User("hi"),), tools=tools)
    print(json.dumps(get_format(name).render_request(request, NameTable.of(tools))))
"""


def test_every_process_writes_the_same_bytes() -> None:
    seeds = ("0", "1", "4", "7")
    written = {
        subprocess.run(
            [sys.executable, "-c", _RENDER],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in seeds
    }
    assert len(written) == 1
