"""A handler in a worker process stores what it keeps as one beside the server does."""

from __future__ import annotations

import json
import os
from pathlib import Path

import anyio
import pytest

from tests.support.isolated import config, entry, served
from toolspan_server import Context
from toolspan_server.calls.caller import CONVERSATION_KEY, LOCAL, Origin

pytestmark = [pytest.mark.long, pytest.mark.anyio, pytest.mark.requirement("I12.4.13")]


def in_conversation(name: str, origin: Origin = LOCAL) -> Context:
    return Context(origin, meta={CONVERSATION_KEY: name})


@pytest.mark.parametrize("handler", ["isolated_keep", "isolated_keep_async"])
async def test_what_a_worker_stores_is_the_servers_and_belongs_to_the_conversation_and_user(
    tmp_path: Path, handler: str
) -> None:
    path = config(tmp_path, entry("keep", handler, isolation="process"))
    async with served(path) as runtime:
        one, two = in_conversation("c-1"), in_conversation("c-2")
        first = (await runtime.execute("keep", {"a": 1}, one)).result
        assert first["pid"] != os.getpid()
        assert (first["all"], first["a"]) == ({"a": [1]}, [1])
        assert (await runtime.execute("keep", {"a": 2, "b": 3}, one)).result["all"] == {"a": [1, 2], "b": [3]}
        assert (await runtime.execute("keep", {}, two)).result["all"] == {}
        assert (await runtime.execute("keep", {"remove": "a"}, one)).result["all"] == {"b": [3]}
        assert json.loads((tmp_path / ".toolspan/storage/local/c-1/keep.json").read_text()) == {"b": [3]}
        other = in_conversation("c-1", Origin("principal"))
        assert (await runtime.execute("keep", {}, other)).result["all"] == {}
        assert (await runtime.execute("keep", {"clear": True}, one)).result["all"] == {}


async def test_its_failures_are_those_of_the_server(tmp_path: Path) -> None:
    path = config(
        tmp_path, entry("keep", "isolated_keep", isolation="process"), storage={"document_bytes": 50}
    )
    async with served(path) as runtime:
        quota = await runtime.execute("keep", {"a": "x" * 100}, LOCAL)
        assert (quota.error_code, "storage.document_bytes" in quota.error) == ("storage_quota", True)
        value = await runtime.execute("keep", {"bad": 1}, LOCAL)
        assert (value.error_code, value.error[:30]) == ("storage_value", "Storage holds JSON values only")
        assert (await runtime.execute("keep", {"a": 1}, LOCAL)).result["all"] == {"a": [1]}
        stored = tmp_path / ".toolspan/storage/local/default/keep.json"
        stored.write_text("{")
        assert (await runtime.execute("keep", {"a": 1}, LOCAL)).error_code == "storage_damaged"
        assert stored.read_text() == "{"


async def test_workers_at_the_same_time_lose_nothing_of_each_other(tmp_path: Path) -> None:
    more = (entry("keep", "isolated_keep", isolation="process"),)
    async with served(config(tmp_path, *more, limits={"handler_processes": 3})) as runtime:
        async with anyio.create_task_group() as group:
            for number in range(12):
                group.start_soon(runtime.execute, "keep", {"a": number}, LOCAL)
        kept = (await runtime.execute("keep", {}, LOCAL)).result["a"]
        assert sorted(kept) == list(range(12))
