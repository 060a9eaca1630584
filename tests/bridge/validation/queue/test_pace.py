"""A request that a provider refuses at one worker slows the requests of all."""

from __future__ import annotations

import time

import anyio
import pytest

from tests.support.queues import database
from toolspan_bridge.providers.http.rate_limits import PATIENCE
from toolspan_bridge.validation.queue.connection import opened_queue
from toolspan_bridge.validation.queue.pace import SharedLimiter

pytestmark = [pytest.mark.long, pytest.mark.anyio]


@pytest.mark.requirement("I14.2.86")
async def test_a_pause_at_one_worker_holds_back_another_and_only_that_account() -> None:
    with database() as url:
        async with opened_queue(url) as queue, opened_queue(url) as other:
            here, there = SharedLimiter(queue, "key"), SharedLimiter(other, "key")
            elsewhere = SharedLimiter(other, "another key")
            for limiter in (here, there, elsewhere):
                await limiter.admit()
            began = time.monotonic()
            assert await here.refused(1.0)
            await there.count()
            await elsewhere.count()
            await elsewhere.admit()
            assert (await queue.rows("SELECT count(*) AS n FROM toolspan_queue_paces"))[0]["n"] == 2
            await there.admit()
            assert time.monotonic() - began >= 0.99


@pytest.mark.requirement("I14.2.86")
async def test_what_two_workers_send_after_a_refusal_is_paced_together_and_becomes_faster() -> None:
    with database() as url:
        async with opened_queue(url) as queue, opened_queue(url) as other:
            limiters = SharedLimiter(queue, "key"), SharedLimiter(other, "key")
            for limiter in limiters:
                await limiter.admit()
            await limiters[0].refused(0.01)
            await queue.rows("UPDATE toolspan_queue_paces SET pause = 0.05")
            await limiters[1].count()
            began = time.monotonic()
            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(limiters[number % 2].admit)
            assert time.monotonic() - began >= 19 * 0.05 * 0.9
            for _ in range(300):
                await limiters[1].answered()
            await limiters[1].count()
            assert (await queue.rows("SELECT pause FROM toolspan_queue_paces"))[0]["pause"] == 0


@pytest.mark.requirement("I14.2.86")
async def test_a_provider_that_answers_nothing_for_long_is_given_up() -> None:
    with database() as url:
        async with opened_queue(url) as queue:
            limiter = SharedLimiter(queue, "key")
            await limiter.admit()
            assert await limiter.refused(0.01)
            await queue.rows(
                "UPDATE toolspan_queue_paces SET last_answer = now() - %(seconds)s * interval '1 second'",
                {"seconds": PATIENCE},
            )
            assert not await limiter.refused(0.01)
