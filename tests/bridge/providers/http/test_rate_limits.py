"""Requests are paced by what their provider takes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from itertools import pairwise

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.provider_settings import instant
from toolspan_bridge.formats import get_format
from toolspan_bridge.providers.http.client import HttpClient, HttpResponse
from toolspan_bridge.providers.http.rate_limits import AdaptiveLimiter, AdaptiveLimiters

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I14.2.2")]

read_error = get_format("openai").parse_error


class Time:
    """A clock that sleeping moves; sleepers wake in the order of their moments."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def limiter(time: Time, patience: float = 120.0) -> AdaptiveLimiter:
    return AdaptiveLimiter(clock=time.clock, sleep=time.sleep, patience=patience)


async def test_nothing_waits_before_a_request_is_refused() -> None:
    time = Time()
    limited = limiter(time)
    for _ in range(100):
        await limited.admit()
        await limited.answered()
    assert time.waits == []


async def test_a_refusal_makes_the_next_requests_wait_as_long_as_is_asked_and_then_their_turn() -> None:
    time = Time()
    limited = limiter(time)
    await limited.admit()
    for _ in range(10):
        await limited.answered()
    time.now = 2.0
    assert await limited.refused(7.0)

    starts: list[float] = []
    for _ in range(3):
        await limited.admit()
        starts.append(time.now)

    assert starts == [9.0, 9.25, 9.5], "ten in two seconds, a quarter slower"


async def test_several_refusals_in_one_pause_slow_down_once() -> None:
    time = Time()
    limited = limiter(time)
    await limited.admit()
    for _ in range(10):
        await limited.answered()
    time.now = 2.0
    for _ in range(30):
        assert await limited.refused(7.0)
    await limited.admit()
    await limited.admit()
    assert time.now == 9.25


async def test_answers_make_it_faster_until_nothing_is_limited() -> None:
    time = Time()
    limited = limiter(time)
    await limited.admit()
    time.now = 1.0
    await limited.refused(1.0)
    waited: list[float] = []
    for _ in range(600):
        before = time.now
        await limited.admit()
        waited.append(time.now - before)
        await limited.answered()
    assert waited[1] > waited[50] > waited[100] > 0
    assert waited[-1] == 0


async def test_without_a_wait_that_is_asked_each_refusal_waits_longer() -> None:
    time = Time()
    limited = limiter(time)
    starts: list[float] = []
    for _ in range(4):
        await limited.admit()
        starts.append(time.now)
        assert await limited.refused(None)
    gaps = [after - before for before, after in pairwise(starts)]
    assert gaps == sorted(gaps)
    assert gaps[0] >= 0.5


@pytest.mark.parametrize("asked", [61.0, 3600.0])
async def test_a_wait_beyond_its_patience_is_an_end(asked: float) -> None:
    limited = limiter(Time(), patience=60.0)
    await limited.admit()
    assert not await limited.refused(asked)


async def test_refusals_without_an_answer_between_them_end_after_its_patience() -> None:
    time = Time()
    limited = limiter(time, patience=60.0)
    await limited.admit()
    refusals = 0
    while await limited.refused(1.0):
        refusals += 1
        await limited.admit()
        assert refusals < 1_000
    assert time.now <= 60.0
    assert refusals >= 10


async def test_models_of_one_address_and_key_share_a_limiter() -> None:
    limiters = AdaptiveLimiters()
    assert limiters.of("one", "acme") is limiters.of("one", "acme")
    assert limiters.of("one", "acme") is not limiters.of("two", "acme")


async def _posted(limiter: AdaptiveLimiter | None) -> tuple[HttpResponse, int]:
    """The answer of a provider that refuses nine requests before it takes one; how often it was asked."""
    busy = [Sent({}, status=429, headers={"retry-after": "3"})] * 9
    with FakeProvider(anything, [*busy, Sent({"ok": True})]) as fake:
        async with aclosing(HttpClient("acme", fake.url, instant(), "", limiter=limiter)) as client:
            answer = await client.post(f"{fake.url}/ask", b"{}", _no_headers, read_error)
        return answer, len(fake.received)


async def test_a_refused_request_is_sent_again_as_often_as_the_limiter_lets_it() -> None:
    time = Time()
    answer, requests = await _posted(limiter(time))
    assert (answer.status, requests, time.now >= 27.0) == (200, 10, True)
    assert answer.attempts == 1, "a request that was held back was not attempted in vain"


async def test_without_a_limiter_a_refused_request_has_a_few_attempts() -> None:
    answer, requests = await _posted(None)
    assert (answer.status, requests) == (429, 3)


async def _no_headers(url: str, body: bytes) -> Mapping[str, str]:
    return {}
