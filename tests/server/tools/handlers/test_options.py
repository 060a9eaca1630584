"""``options``: what the config tells a handler beside the arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from tests.support.executors import builtin, executor_of
from toolspan_server import (
    ConfigError,
    Context,
    handler,
    load_config,
)
from toolspan_server.calls.caller import LOCAL
from toolspan_server.schema.records import Record, key

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.7")]


class Options(Record):
    """Options of the handlers below."""

    greeting: str = key("What to say.", least=1)
    times: int = key("How often.", least=1, most=9, default=1)


@handler("options.greet", options=Options)
def greeting(arguments: dict[str, Any], context: Context) -> str:
    return context.options.greeting * context.options.times


@handler("options.greet_async", options=Options)
async def greeting_async(arguments: dict[str, Any], context: Context) -> str:
    return greeting(arguments, context)


class Pydantic(BaseModel, extra="forbid"):
    city: str = "Oslo"


@handler("options.pydantic", options=Pydantic)
def telling_the_city(arguments: dict[str, Any], context: Context) -> str:
    return context.options.city


@handler("options.none")
def without(arguments: dict[str, Any], context: Context) -> bool:
    return context.options is None


@pytest.mark.parametrize("name", ["options.greet", "options.greet_async"])
async def test_a_handler_finds_its_options_as_the_record_that_it_registered(name: str) -> None:
    implementation = {"type": "builtin", "handler": name, "options": {"greeting": "hi ", "times": 2}}
    executor = executor_of({**builtin("greet"), "implementation": implementation})
    assert (await executor.execute("greet", {}, LOCAL)).result == "hi hi "


async def test_a_handler_without_options_has_none() -> None:
    assert (await executor_of(builtin("x", "options.none")).execute("x", {}, LOCAL)).result is True


async def test_a_pydantic_model_will_do(tmp_path: Path) -> None:
    for options, city in (({}, "Oslo"), ({"city": "Rome"}, "Rome")):
        implementation = {"type": "builtin", "handler": "options.pydantic", "options": options}
        executor = executor_of({**builtin("x"), "implementation": implementation})
        assert (await executor.execute("x", {}, LOCAL)).result == city


FAULTS = [
    (
        "{handler: options.pydantic, options: {ctiy: x}}",
        "options.ctiy: unknown key 'ctiy' (did you mean 'city'?)",
    ),
    ("{handler: options.greet}", "$.tools.registry[0].implementation.options: 'greeting' is missing"),
    ("{handler: options.greet, options: {greting: x, greeting: y}}", "did you mean 'greeting'?"),
    ("{handler: options.greet, options: {greeting: x, times: 0}}", "must be an integer from 1 to 9, not 0"),
    ("{handler: options.none, options: {a: 1}}", "the handler 'options.none' takes no options (remove them)"),
    ("{handler: options.nnoe, options: {a: 1}}", "Builtin handler 'options.nnoe' not found"),
    ("{handler: options.greet, options: 5}", "implementation.options: must be an object, not 5"),
]


@pytest.mark.parametrize(("implementation", "told"), FAULTS)
async def test_options_that_the_handler_does_not_take_are_faults(
    tmp_path: Path, implementation: str, told: str
) -> None:
    path = tmp_path / "c.yaml"
    given = implementation.replace("{handler", "{type: builtin, handler")
    path.write_text(f"tools: {{registry: [{{name: x, description: d, implementation: {given}}}]}}")
    with pytest.raises(ConfigError) as raised:
        load_config(path)
    assert told in str(raised.value)
    assert len(raised.value.problems) == 1


async def test_a_number_of_the_options_may_come_from_a_variable_and_is_no_secret(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        "tools: {registry: [{name: x, description: d, implementation: {type: builtin, "
        "handler: options.greet, options: {greeting: 'token ${TOKEN}', times: '${TIMES}'}}}]}"
    )
    config = load_config(path, environ={"TIMES": "3", "TOKEN": "abcdefgh"})
    implementation: Any = config.tools.registry[0].implementation
    assert implementation.options.times == 3
    assert config.redact("3 abcdefgh") == "3 ***"
