"""Resources and prompts of servers, in both eras."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from tests.support.mcp_peers import raw, talker
from tests.support.waiting import BOUND_S
from toolspan_bridge import Toolbox, UsageError
from toolspan_bridge.toolbox import Contents, Prompt

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.2.18")]
ERAS = ["old", "new"]


@asynccontextmanager
async def contents(era: str) -> AsyncGenerator[Contents]:
    with anyio.fail_after(BOUND_S):
        servers = [talker(era), raw()]
        async with Toolbox.connect(servers, connect_timeout=BOUND_S) as toolbox:
            yield toolbox.contents


@pytest.mark.parametrize("era", ERAS)
async def test_what_a_server_has_is_listed_read_and_completed(era: str) -> None:
    async with contents(era) as found:
        assert await found.resources("talker") == ("note:1", "dot:1", "long:1")
        assert await found.templates("talker") == ("day:{day}/x",)
        assert await found.prompts("talker") == (Prompt("write", "", {"topic": True, "tone": False}),)
        (note,) = await found.read("talker", "note:1")
        assert note["text"] == "Buy milk."
        (written, embedded) = await found.prompt("talker", "write", ["tone=dry", "the sea"])
        assert written["content"]["text"] == 'Write about {"tone": "dry", "topic": "the sea"}'
        assert embedded["content"]["resource"]["uri"] == "note:1"
        reference = {"type": "ref/prompt", "name": "write"}
        assert await found.complete("talker", reference, "topic", "mo") == ("monday",)


@pytest.mark.parametrize("era", ERAS)
async def test_what_is_not_there_is_told_with_what_is(era: str) -> None:
    async with contents(era) as found:
        with pytest.raises(UsageError, match=r"no resource 'note:9': Resource not found \(there are note:1"):
            await found.read("talker", "note:9")
        with pytest.raises(UsageError, match=r"no prompt 'sing' \(there are write\)"):
            await found.prompt("talker", "sing", [])
        with pytest.raises(UsageError, match=r"needs topic \(it takes topic \[tone\]\)"):
            await found.prompt("talker", "write", ["tone=dry"])
        with pytest.raises(UsageError, match="too many arguments"):
            await found.prompt("talker", "write", ["a", "b", "c"])
        with pytest.raises(UsageError, match=r"no server 'nobody' \(there are talker, raw\)"):
            await found.read("nobody", "note:1")


async def test_a_server_without_resources_and_prompts_has_none() -> None:
    async with contents("old") as found:
        assert (await found.resources("raw"), await found.templates("raw")) == ((), ())
        assert await found.prompts("raw") == ()
        with pytest.raises(UsageError, match="it lists none"):
            await found.read("raw", "x:1")
        assert await found.complete("raw", {"type": "ref/prompt", "name": "x"}, "y", "") == ()
