"""The types of ``toolspan_server``'s surface, checked by ``make lint`` and never run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, assert_type

from toolspan_server import (
    LOCAL,
    Change,
    Client,
    Config,
    ConfigError,
    Content,
    Context,
    Executor,
    FileStore,
    Handler,
    HandlerNotFound,
    InputRequired,
    InvalidParameters,
    Origin,
    Problem,
    Question,
    Registry,
    RequestRefused,
    Runtime,
    ServeError,
    Tool,
    ToolFailure,
    ToolResult,
    ToolspanError,
    ToolStorage,
    ToolTimeout,
    handler,
    load_config,
    running,
)


@handler("plain")
def plain(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    context.raise_if_cancelled()
    context.publish(Change("resource", "notes://1"))
    return arguments


@handler("storing")
def storing(arguments: dict[str, Any], context: Context) -> Any:
    storage = assert_type(context.storage, ToolStorage)
    storage.set("key", 1)
    storage.update("key", lambda value: value + 1, default=0)
    assert_type(storage.get_all(), dict[str, Any])
    storage.delete("key")
    storage.clear()
    return storage.get("key", "default")


def store_of_a_test(folder: Path) -> Context:
    origin: Origin = LOCAL
    return Context(origin, tool_name="storing", store=FileStore(folder))


@handler("asking", kind="internal", talks=True)
async def asking(arguments: dict[str, Any], context: Context) -> Content:
    client: Client = context.client
    answers = await client.ask({"name": Question("elicitation", {"message": "Your name?"})})
    assert_type(answers, dict[str, Mapping[str, Any]])
    assert_type(await context.call("plain", {}), ToolResult)
    raise ToolFailure("no", error_code="refused", user_action="Ask again.")


as_handler: Handler = plain
handler("wrong", kind="remote")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Question("telepathy")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def embedded() -> None:
    config = assert_type(load_config("toolspan.yaml"), Config)
    async with running(config) as runtime:
        assert_type(runtime, Runtime)
        assert_type(await runtime.execute("plain", {"a": 1}, LOCAL), ToolResult)
    registry = assert_type(Registry.from_config(config), Registry)
    assert_type(registry.get("plain"), Tool | None)
    result = await Executor(registry).execute("plain", None, LOCAL)
    assert_type(result.as_dict(), dict[str, Any])
    load_config(1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def caught(error: ToolspanError) -> str:
    match error:
        case ConfigError():
            assert_type(error.problems, tuple[Problem, ...])
            return str(error.problems[0].line)
        case InvalidParameters():
            return assert_type(error.faults, tuple[str, ...])[0]
        case HandlerNotFound() | ToolTimeout():
            return assert_type(error.error_code, str)
        case InputRequired():
            return next(iter(assert_type(error.questions, dict[str, Question])))
        case RequestRefused():
            return str(assert_type(error.code, int))
        case ServeError() | _:
            return str(error)
