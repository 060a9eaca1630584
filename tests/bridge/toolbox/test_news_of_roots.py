"""Servers are told of other folders, whatever becomes of the news at one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from toolspan_bridge.client.features import ClientFeatures
from toolspan_bridge.client.roots import Roots
from toolspan_bridge.toolbox._connecting import telling_of_roots
from toolspan_server.common import supervision

pytestmark = pytest.mark.anyio


class Server:
    """What stands for a connection: it fails to send, or notes what it sent."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault
        self.sent: list[str] = []

    async def notify(self, method: str) -> None:
        if self.fault is not None:
            raise self.fault
        self.sent.append(method)


@pytest.mark.requirement("I24.4.1")
async def test_news_of_roots_that_cannot_be_sent_are_told_counted_and_reach_the_other_servers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = supervision.failures().get("news of roots", 0)
    roots, broken, other = Roots(), Server(LookupError("half of a pair \ud800")), Server()
    async with anyio.create_task_group() as tasks:
        end = telling_of_roots(ClientFeatures(roots=roots), cast("Any", [broken, other]), tasks)
        roots.replace([tmp_path])
        roots.replace([tmp_path / "a"])
        end()
    assert other.sent == ["notifications/roots/list_changed"] * 2
    assert supervision.failures()["news of roots"] == before + 2
    assert "the background work 'news of roots' failed (LookupError: half of a pair" in caplog.text
