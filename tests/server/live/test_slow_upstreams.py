"""What upstreams have is waited for when they begin, and not again with each request."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from tests.support.waiting import BOUND_S
from toolspan_server.live.offered.upstream_values import until_ready
from toolspan_server.tools.services._upstream_catalog import Catalog

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I15.4.50")]


def upstream() -> Any:
    return SimpleNamespace(catalog=Catalog("slow"))


async def test_one_that_never_tells_holds_up_no_request_once_its_time_is_over() -> None:
    slow, patience = upstream(), 100 * BOUND_S
    slow.catalog.begun_at -= patience
    with anyio.fail_after(BOUND_S):
        await until_ready([slow], patience)


async def test_one_that_has_begun_is_waited_for_until_it_tells() -> None:
    quick, order = upstream(), list[str]()

    async def tell() -> None:
        order.append("told")
        quick.catalog.ready.set()

    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tell)
            await until_ready([quick], 100 * BOUND_S)
            order.append("went on")
    assert order == ["told", "went on"]
