"""Whatever a handler raises, and from wherever: its call is answered, and the server goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.raw_http import RawClient, tool_call
from tests.support.served import BOUND_S, StdioServer, http_server, tool
from tests.support.served import call as call_of

pytestmark = pytest.mark.requirement("I9.2.7")

HANDLERS = """
import asyncio
import sys

import anyio

from toolspan_server import handler


class Odd(BaseException):
    pass


class Speechless(Exception):
    def __str__(self):
        sys.exit(4)


class Nameless(BaseException):
    def __str__(self):
        raise Nameless


async def ends():
    await asyncio.sleep(0)
    sys.exit(3)


async def interrupts():
    raise KeyboardInterrupt


async def in_asyncio_group(child=ends):
    async with asyncio.TaskGroup() as group:
        group.create_task(child())
        await asyncio.sleep(60)


async def in_anyio_group():
    async with anyio.create_task_group() as group:
        group.start_soon(ends)
        await anyio.sleep_forever()


async def aside():
    asyncio.create_task(ends())
    await asyncio.sleep(0.05)
    return "went on"


async def later():
    asyncio.get_running_loop().call_soon(sys.exit, 3)
    await asyncio.sleep(0.05)
    return "went on"


def raising(error):
    async def work():
        await asyncio.sleep(0)
        raise error

    return work


def grouped():
    raise BaseExceptionGroup("several", [Odd("a"), SystemExit(2), ValueError("b")])


async def several():
    grouped()


WAYS = {
    "asyncio group": in_asyncio_group,
    "interrupted group": lambda: in_asyncio_group(interrupts),
    "anyio group": in_anyio_group,
    "aside": aside,
    "later": later,
    "several": several,
    "odd": raising(Odd("peculiar")),
    "one in a group": raising(BaseExceptionGroup("one", [Odd("peculiar")])),
    "close": raising(GeneratorExit()),
    "cancel": raising(asyncio.CancelledError()),
    "speechless": raising(Speechless()),
    "nameless": raising(Nameless()),
    "status": raising(SystemExit(Speechless())),
}


@handler("raises")
async def raises(arguments, context):
    return await WAYS[arguments["way"]]()


@handler("raises_in_thread")
def raises_in_thread(arguments, context):
    if arguments["way"] == "several":
        grouped()
    raise {
        "odd": Odd("peculiar"),
        "interrupt": KeyboardInterrupt(),
        "exit": SystemExit(3),
        "close": GeneratorExit(),
        "cancel": asyncio.CancelledError(),
        "stop": StopIteration(1),
        "speechless": Speechless(),
        "nameless": Nameless(),
        "status": SystemExit(Speechless()),
    }[arguments["way"]]
"""
TOLD = {
    "raises": {
        "asyncio group": "The tool tried to exit the process (status 3)",
        "interrupted group": "The tool raised KeyboardInterrupt",
        "anyio group": "The tool tried to exit the process (status 3)",
        "aside": None,
        "later": None,
        "several": "The tool raised BaseExceptionGroup: several (3 sub-exceptions)",
        "odd": "The tool raised Odd: peculiar",
        "one in a group": "The tool raised Odd: peculiar",
        "close": "The tool raised GeneratorExit",
        "cancel": "The tool's own work was cancelled",
        "speechless": "Speechless",
        "nameless": "The tool raised Nameless: Nameless",
        "status": "The tool tried to exit the process (status Speechless())",
    },
    "raises_in_thread": {
        "odd": "The tool raised Odd: peculiar",
        "interrupt": "The tool raised KeyboardInterrupt",
        "exit": "The tool tried to exit the process (status 3)",
        "close": "The tool raised GeneratorExit",
        "cancel": "The tool's own work was cancelled",
        "stop": "coroutine raised StopIteration",
        "several": "The tool raised BaseExceptionGroup: several (3 sub-exceptions)",
        "speechless": "Speechless",
        "nameless": "The tool raised Nameless: Nameless",
        "status": "The tool tried to exit the process (status Speechless())",
    },
}
Call = Callable[[str, str], dict[str, Any]]


@contextmanager
def stdio(config: Path) -> Iterator[Call]:
    with StdioServer(config).handshake() as server:
        yield lambda name, way: server.ask(call_of(way, name, {"way": way}))["result"]
        server.close_input()
        assert server.process.returncode == 0


@contextmanager
def http(config: Path) -> Iterator[Call]:
    with http_server(config) as server, RawClient(server.address) as client:

        def call(name: str, way: str) -> dict[str, Any]:
            client.send(tool_call(name, {"way": way}))
            return client.answer().message["result"]  # type: ignore[no-any-return]

        yield call
        server.process.terminate()
        assert server.process.wait(BOUND_S) == 0


@pytest.mark.parametrize("transport", [stdio, http])
@pytest.mark.parametrize("name", TOLD)
def test_whatever_a_handler_raises_is_its_own_calls_failure(
    name: str, transport: Any, tmp_path: Path
) -> None:
    anything = {"type": "object", "additionalProperties": True}
    (tmp_path / "ways.py").write_text(HANDLERS)
    within = {"type": "builtin", "isolation": "thread"}
    registry = [tool(each, {**within, "handler": each}, parameters=anything) for each in TOLD]
    config = tmp_path / "toolspan.json"
    config.write_text(
        json.dumps(
            {"handlers": ["ways.py"], "serving": {"error_details": True}, "tools": {"registry": registry}}
        )
    )
    with transport(config) as call:
        for way, error in TOLD[name].items():
            result = call(name, way)
            told = result.get("structuredContent", {}).get("error") if result["isError"] else None
            assert told == error, way
