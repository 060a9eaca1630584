"""Storage in handlers that are async: awaited, while the event loop goes on."""

from __future__ import annotations

import threading
from pathlib import Path

import anyio
import pytest
from typing_extensions import override

from toolspan_server import Context, FileStore
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.storage import Document, Place

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.4.58")]


class Held(FileStore):
    """A store whose reads wait until ``gate`` is set."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.gate = threading.Event()

    @override
    def read(self, place: Place) -> Document:
        assert self.gate.wait(60)
        return super().read(place)


async def test_the_event_loop_goes_on_while_the_store_works(tmp_path: Path) -> None:
    store = Held(tmp_path)
    storage = Context(LOCAL, tool_name="list", store=store).storage.awaited
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(storage.set, "n", 1)
        await anyio.wait_all_tasks_blocked()
        store.gate.set()  # which nothing would do if the loop were held up
    assert await storage.get("n") == 1


async def test_what_is_awaited_is_what_is_stored(tmp_path: Path) -> None:
    plain = Context(LOCAL, tool_name="list", store=FileStore(tmp_path)).storage
    await plain.awaited.set("a", [1])
    assert await plain.awaited.update("a", lambda value: [*value, 2]) == [1, 2]
    assert plain.get_all() == await plain.awaited.get_all() == {"a": [1, 2]}
    await plain.awaited.delete("a")
    assert await plain.awaited.get("a", "none") == "none"
    await plain.awaited.set("b", 1)
    await plain.awaited.clear()
    assert plain.get_all() == {}
