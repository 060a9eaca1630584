"""The kinds: found by name, checked at load, built to answer."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.cost import at_most
from tests.support.executors import executor_of, tool
from toolspan_server import Context
from toolspan_server.calls.caller import LOCAL
from toolspan_server.parts.environment import Environment
from toolspan_server.parts.kind import KINDS

pytestmark = pytest.mark.anyio


def configured(**implementation: Any) -> Any:
    return KINDS.config(implementation["type"]).model_validate(implementation)


def test_every_kind_is_found_by_its_name() -> None:
    assert {"builtin", "internal", "mock"} <= set(KINDS.names)
    for name in KINDS.names:
        assert KINDS.config(name).model_fields["type"].default == name


@pytest.mark.parametrize("name", ["shell", "_base", "", "mock.py"])
def test_no_other_name_is_a_kind(name: str) -> None:
    with pytest.raises(KeyError):
        KINDS.config(name)


def test_a_kind_takes_no_key_that_it_does_not_know_and_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        configured(type="mock", respones=1)
    with pytest.raises(ValidationError, match="frozen"):
        configured(type="mock").mock_response = 2


@pytest.mark.requirement("I2.4.1")
@pytest.mark.parametrize("response", [None, True, 1.5, "text", [1, {"a": None}], {"temperature": 22}])
async def test_a_mock_answers_with_any_json_value(response: Any) -> None:
    executor = executor_of(tool("m", {"type": "mock", "mock_response": response}))
    result = await executor.execute("m", {"any": "thing"}, LOCAL)
    assert (result.success, result.result) == (True, response)


@pytest.mark.requirement("I2.3.5")
async def test_a_mock_answers_in_under_10_ms() -> None:
    executor = executor_of(tool("m", {"type": "mock", "mock_response": {"temperature": 22}}))
    with at_most(units=20):
        for _ in range(20):
            assert (await executor.execute("m", {"location": "Paris"}, LOCAL)).success


@pytest.mark.requirement("I2.3.5")
async def test_a_mock_logs_its_arguments_at_level_debug_and_does_not_use_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    executor = executor_of(tool("weather", {"type": "mock", "mock_response": 1}))
    assert (await executor.execute("weather", {"location": "Paris\nFAKE LINE"}, LOCAL)).result == 1
    ((level, message),) = [(record.levelno, record.getMessage()) for record in caplog.records]
    assert level == logging.DEBUG  # at INFO there is the one line that every call has
    assert message == r"mock 'weather' called with {'location': 'Paris\nFAKE LINE'}"


async def test_a_mock_does_not_flood_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    executor = executor_of(tool("weather", {"type": "mock", "mock_response": 1}))
    with at_most(units=100):
        await executor.execute("weather", {"text": "x" * 900_000, "rows": [[1] * 90] * 90}, LOCAL)
    assert len(caplog.messages[0]) < 5_000


async def test_a_mock_gives_a_new_copy_of_its_answer_each_time() -> None:
    executor = executor_of(tool("m", {"type": "mock", "mock_response": {"list": []}}))
    (await executor.execute("m", None, LOCAL)).result["list"].append(1)
    assert (await executor.execute("m", None, LOCAL)).result == {"list": []}


@pytest.mark.requirement("I2.4.4")
@pytest.mark.parametrize(("kind", "handler"), [("builtin", "math_eval"), ("internal", "rag_query")])
def test_a_known_handler_is_no_problem(kind: str, handler: str) -> None:
    assert list(configured(type=kind, handler=handler).problems()) == []


@pytest.mark.requirement("I2.3.2")
def test_an_unknown_handler_is_a_problem_that_names_the_nearest() -> None:
    (problem,) = configured(type="builtin", handler="math_evil").problems()
    assert problem == ("handler", "Builtin handler 'math_evil' not found (did you mean 'math_eval'?)")
    (problem,) = configured(type="internal", handler="math_eval").problems()
    assert problem[1].startswith("Internal handler 'math_eval' not found")


async def test_a_built_kind_answers_by_itself(tmp_path: Path) -> None:
    kind = configured(type="builtin", handler="echo").build(Environment(tmp_path, tmp_path))
    assert await kind.call({"a": 1}, Context(LOCAL)) == {"echo": {"a": 1}}
