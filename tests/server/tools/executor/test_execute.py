"""From a name and arguments to a tool result: shapes, texts, codes, and what no tool can do to the server."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from typing import Any

import anyio
import pytest

from tests.support.executors import builtin, executor_of, registry_of, tool
from toolspan_server import (
    Config,
    Context,
    Executor,
    Registry,
    ToolFailure,
    handler,
)
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.context import Surroundings

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.4.1")]

WEATHER = {
    "type": "object",
    "properties": {"location": {"type": "string"}, "units": {"default": "celsius"}},
    "required": ["location"],
}
SECRET = "hunter2-of-the-config"


ERRORS: dict[str, BaseException] = {}


@handler("execute.fail")
async def failing(arguments: dict[str, Any], context: Context) -> None:
    raise ERRORS[arguments["error"]]


@handler("execute.fail_in_thread")
def failing_in_thread(arguments: dict[str, Any], context: Context) -> None:
    raise ERRORS[arguments["error"]]


@handler("execute.exit")
def exiting(arguments: dict[str, Any], context: Context) -> None:
    sys.exit(3)


@handler("execute.recurse")
def recursing(arguments: dict[str, Any], context: Context) -> Any:
    return recursing(arguments, context)


@handler("execute.context")
async def telling_context(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    return {"tool": context.tool_name, "meta": context.meta, "service": context.service("answers")}


@handler("execute.group")
async def failing_in_a_group(arguments: dict[str, Any], context: Context) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(failing, arguments, context)


@handler("execute.late")
def late_coroutine(arguments: dict[str, Any], context: Context) -> Any:
    return telling_context(arguments, context)


@handler("execute.cancelled_future")
async def awaiting_a_cancelled_future(arguments: dict[str, Any], context: Context) -> None:
    future = asyncio.get_running_loop().create_future()
    future.cancel()
    await future


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


async def failure(name: str, error: BaseException, **options: Any) -> dict[str, Any]:
    ERRORS["it"] = error
    executor = executor_of(builtin(name), **options)
    result = (await executor.execute(name, {"error": "it"}, LOCAL)).as_dict()
    assert result["success"] is False
    return result


@pytest.mark.requirement("I2.3.1")
async def test_a_success_has_exactly_the_documented_shape() -> None:
    executor = executor_of(tool("weather", {"type": "mock", "mock_response": {"temperature": 22}}, WEATHER))
    result = (await executor.execute("weather", {"location": "Paris"}, LOCAL)).as_dict()
    assert list(result) == ["success", "result", "tool_name", "execution_time_ms"]
    assert result["success"] is True
    assert result["result"] == {"temperature": 22}
    assert result["tool_name"] == "weather"
    assert isinstance(result["execution_time_ms"], float)


@pytest.mark.requirement("I2.3.1", "I2.3.2")
async def test_a_missing_parameter_is_a_failed_result_of_exactly_the_documented_shape() -> None:
    executor = executor_of(tool("weather", {"type": "mock", "mock_response": 1}, WEATHER))
    result = (await executor.execute("weather", {}, LOCAL)).as_dict()
    assert list(result) == ["success", "error", "error_code", "user_action", "tool_name", "execution_time_ms"]
    assert result["success"] is False
    assert result["error"] == "Invalid parameters: missing 'location'"
    assert result["error_code"] == "invalid_parameters"
    assert result["user_action"]
    assert result["execution_time_ms"] >= 0


@pytest.mark.requirement("I2.3.2")
async def test_an_unknown_tool_is_not_found() -> None:
    result = (await executor_of().execute("x", {}, LOCAL)).as_dict()
    assert (result["error"], result["error_code"]) == ("Tool 'x' not found", "tool_not_found")
    assert result["tool_name"] == "x"
    assert result["execution_time_ms"] >= 0


async def test_the_name_of_an_unknown_tool_is_repeated_only_in_part_and_as_valid_text() -> None:
    result = (await executor_of().execute("\ud800" + "x" * 1_000_000, None, LOCAL)).as_dict()
    assert len(json.dumps(result, ensure_ascii=False).encode()) < 1_000


@pytest.mark.requirement("I2.3.2")
@pytest.mark.parametrize("kind", ["builtin", "internal"])
async def test_an_unknown_handler_is_not_found(kind: str) -> None:
    executor = executor_of(tool("t", {"type": kind, "handler": "x"}))
    result = await executor.execute("t", {}, LOCAL)
    assert result.error == f"{kind.capitalize()} handler 'x' not found"
    assert result.error_code == "handler_not_found"


@pytest.mark.requirement("I2.3.2")
async def test_any_other_exception_gives_its_message_and_the_traceback_only_to_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    result = await failure("execute.fail", ZeroDivisionError("no such share"))
    assert (result["error"], result["error_code"]) == ("no such share", "execution_error")
    assert "Traceback" not in json.dumps(result)
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "Traceback" in record.getMessage()
    assert "in failing" in record.getMessage()


@pytest.mark.requirement("I2.3.2")
async def test_a_secret_in_an_exception_reaches_neither_the_result_nor_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    result = await failure(
        "execute.fail", ValueError(f"bad key {SECRET}"), redact=lambda text: text.replace(SECRET, "***")
    )
    assert result["error"] == "bad key ***"
    assert SECRET not in caplog.text
    assert "bad key ***" in caplog.text


async def test_a_tool_failure_speaks_in_its_own_words_and_is_not_logged_as_a_bug(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told = ToolFailure("The shop is closed", error_code="closed", user_action="Come back at nine.")
    result = await failure("execute.fail", told)
    assert (result["error"], result["error_code"]) == ("The shop is closed", "closed")
    assert result["user_action"] == "Come back at nine."
    assert not caplog.records


async def test_a_tool_failure_in_a_task_group_speaks_in_its_own_words() -> None:
    assert (await failure("execute.group", ToolFailure("closed")))["error"] == "closed"
    assert (await failure("execute.group", ValueError("broken")))["error"] == "broken"


@pytest.mark.requirement("I2.3.1")
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RecursionError("too deep"), "too deep"),
        (MemoryError(), "MemoryError"),
        (KeyError("k"), "'k'"),
        (ValueError(""), "ValueError"),
        (ValueError("half \ud800"), "half \\ud800"),
        (Unprintable(), "Unprintable"),
        (StopIteration("end"), "coroutine raised StopIteration"),
        (SystemExit(3), "The tool tried to exit the process (status 3)"),
        (TimeoutError("upstream"), "upstream"),
    ],
)
@pytest.mark.parametrize("name", ["execute.fail", "execute.fail_in_thread"])
async def test_whatever_a_handler_raises_is_a_failed_result(
    name: str, error: BaseException, told: str
) -> None:
    result = await failure(name, error)
    assert (result["error"], result["error_code"]) == (told, "execution_error")


async def test_even_an_interrupt_raised_in_a_worker_thread_is_a_failed_result() -> None:
    result = await failure("execute.fail_in_thread", KeyboardInterrupt("typed by no one"))
    assert result["error"] == "The tool raised KeyboardInterrupt: typed by no one"


async def test_a_huge_message_is_shortened() -> None:
    assert len((await failure("execute.fail", ValueError("x" * 1_000_000)))["error"]) < 20_000


@pytest.mark.requirement("I2.3.1")
async def test_a_handler_that_exits_or_recurses_without_end_leaves_the_executor_working() -> None:
    executor = executor_of(builtin("execute.exit"), builtin("execute.recurse"), builtin("echo"))
    assert (
        await executor.execute("execute.exit", None, LOCAL)
    ).error == "The tool tried to exit the process (status 3)"
    assert "recursion" in (await executor.execute("execute.recurse", None, LOCAL)).error
    assert (await executor.execute("echo", {"a": 1}, LOCAL)).result == {"echo": {"a": 1}}


async def test_a_cancellation_that_nobody_asked_for_is_a_failed_result() -> None:
    result = await executor_of(builtin("execute.cancelled_future")).execute(
        "execute.cancelled_future", None, LOCAL
    )
    assert result.error == "The tool's own work was cancelled"


@pytest.mark.requirement("I2.3.1")
@pytest.mark.parametrize("arguments", [None, {}])
async def test_no_arguments_are_empty_arguments(arguments: dict[str, Any] | None) -> None:
    assert (await executor_of(builtin("echo")).execute("echo", arguments, LOCAL)).result == {"echo": {}}


async def test_arguments_that_are_no_object_are_invalid() -> None:
    result = await executor_of(builtin("echo")).execute("echo", ["a"], LOCAL)  # type: ignore[arg-type] # the point
    assert result.error == "Invalid parameters: the arguments must be an object (got an array)"


@pytest.mark.requirement("I2.3.3")
async def test_a_handler_gets_the_defaults_and_not_what_the_schema_does_not_define() -> None:
    executor = executor_of(builtin("echo", parameters=WEATHER))
    result = await executor.execute("echo", {"location": "Paris", "mood": "good"}, LOCAL)
    assert result.result == {"echo": {"location": "Paris", "units": "celsius"}}


@pytest.mark.parametrize("name", ["execute.context", "execute.late"])
async def test_a_handler_is_told_the_tool_the_meta_and_the_services(name: str) -> None:
    executor = executor_of(builtin("it", name), surroundings=Surroundings(services={"answers": 42}))
    result = await executor.execute("it", {}, Context(LOCAL, meta={"progressToken": 7}))
    assert result.result == {"tool": "it", "meta": {"progressToken": 7}, "service": 42}


async def test_a_service_that_is_not_configured_is_named() -> None:
    result = await executor_of(builtin("execute.context")).execute("execute.context", None, LOCAL)
    assert (result.error, result.error_code) == (
        "Service 'answers' is not configured",
        "service_not_configured",
    )


async def test_an_executor_follows_its_registry_when_that_is_exchanged() -> None:
    executor = executor_of(tool("t", {"type": "mock", "mock_response": 1}))
    assert (await executor.execute("t", None, LOCAL)).result == 1
    executor.registry = registry_of(tool("t", {"type": "mock", "mock_response": 2}))
    assert (await executor.execute("t", None, LOCAL)).result == 2


async def test_tools_that_are_not_enabled_are_not_there() -> None:
    tools = {"enabled": False, "registry": [tool("t", {"type": "mock", "mock_response": 1})]}
    registry = Registry.from_config(Config.model_validate({"tools": tools}))
    assert (len(registry), list(registry)) == (0, [])
    assert (await Executor(registry).execute("t", None, LOCAL)).error_code == "tool_not_found"


async def test_a_registry_keeps_the_order_of_the_config() -> None:
    registry = registry_of(builtin("b", "echo"), builtin("a", "echo", timeout_ms=5))
    assert [(entry.name, entry.timeout_ms) for entry in registry] == [("b", 30_000), ("a", 5)]
