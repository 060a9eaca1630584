"""A cache never gives one user or conversation what a tool has stored for another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.executors import builtin, executor_of, tool
from toolspan_server import Context, Executor, FileStore, ToolFailure, handler
from toolspan_server.calls.caller import CONVERSATION_KEY, LOCAL
from toolspan_server.calls.context import Surroundings

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.4.13")]

CACHED: dict[str, Any] = {"cache": {"ttl_ms": 60_000}, "annotations": {"read_only": True}}
PLACE: dict[str, Any] = {"type": "pipeline", "steps": [{"id": "one", "tool": "mine", "arguments": {}}]}
calls: list[str] = []


@handler("tests_mine")
async def mine(_arguments: dict[str, Any], context: Context) -> str:
    """The conversation, as a tool would know it from what it has stored."""
    calls.append("mine")
    await anyio.lowlevel.checkpoint()
    found: str = context.storage.update("whose", lambda known: known or context.storage.place.conversation)
    return found


@handler("tests_full")
async def full(_arguments: dict[str, Any], context: Context) -> str:
    await anyio.lowlevel.checkpoint()
    context.storage.get("a")
    raise ToolFailure(f"the list of {context.storage.place.conversation} is full")


@handler("tests_everyones")
async def everyones(_arguments: dict[str, Any], _context: Context) -> str:
    calls.append("everyones")
    await anyio.lowlevel.checkpoint()
    return "the same"


def executor(folder: Path) -> Executor:
    tools = [
        builtin("mine", "tests_mine", **CACHED),
        builtin("full", "tests_full", **CACHED),
        builtin("everyones", "tests_everyones", **CACHED),
        tool("through", PLACE, **CACHED),
    ]
    return executor_of(*tools, surroundings=Surroundings(store=FileStore(folder)))


def of(conversation: str) -> Context:
    return Context(LOCAL, meta={CONVERSATION_KEY: conversation})


@pytest.mark.parametrize("name", ["mine", "through"])
async def test_each_conversation_gets_its_own_one_after_the_other(tmp_path: Path, name: str) -> None:
    one = executor(tmp_path)
    for conversation in ("ann", "bob", "ann"):
        result = await one.execute(name, {}, of(conversation))
        assert conversation in str(result.result), result
        assert str(result.result).count("bob") == (conversation == "bob")


@pytest.mark.parametrize("name", ["mine", "full"])
async def test_each_conversation_gets_its_own_at_the_same_time(tmp_path: Path, name: str) -> None:
    one = executor(tmp_path)
    found: dict[str, str] = {}

    async def ask(conversation: str) -> None:
        result = await one.execute(name, {}, of(conversation))
        found[conversation] = str(result.result) + result.error

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(ask, f"c-{number}")
    assert all(conversation in said for conversation, said in found.items()), found
    assert len(set(found.values())) == 5


async def test_what_nobody_stores_is_cached_as_ever(tmp_path: Path) -> None:
    one = executor(tmp_path)
    calls.clear()
    for conversation in ("ann", "bob"):
        assert (await one.execute("everyones", {}, of(conversation))).result == "the same"
    assert calls == ["everyones"]
