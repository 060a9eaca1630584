"""The circuit breaker of a deployment, by a clock of the test's own."""

from __future__ import annotations

import pytest

from toolspan_bridge.providers.deployments import Circuit

pytestmark = pytest.mark.requirement("I15.3.53")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def circuit(clock: Clock, failures: int = 2, dice: float = 0.0) -> Circuit:
    return Circuit(failures, 10.0, clock, lambda: dice)


def test_it_opens_after_failures_in_a_row_and_lets_one_probe_through() -> None:
    clock = Clock()
    one = circuit(clock)
    one.failed()
    one.succeeded()
    one.failed()
    assert one.take()
    one.failed()
    assert (one.take(), one.wait) == (False, 10.0)
    clock.now = 10.0
    assert [one.take() for _ in range(5)] == [True, False, False, False, False]
    one.succeeded()
    assert [one.take() for _ in range(3)] == [True, True, True]


def test_each_failed_probe_doubles_the_cooldown_up_to_sixteen_times() -> None:
    clock = Clock()
    one = circuit(clock, failures=1)
    waits = []
    for _ in range(7):
        one.failed()
        waits.append(one.wait)
        clock.now += one.wait
        assert one.take()
    assert waits == [10.0, 20.0, 40.0, 80.0, 160.0, 160.0, 160.0]


def test_a_probe_whose_caller_left_lets_another_one_through() -> None:
    clock = Clock()
    one = circuit(clock, failures=1)
    one.failed()
    clock.now = 10.0
    assert one.take()
    assert not one.take()
    one.left()
    assert one.take()


def test_the_wait_that_a_provider_asks_for_is_kept_up_to_an_hour() -> None:
    one = circuit(Clock(), failures=5)
    one.failed(45.0)
    assert (one.take(), one.wait) == (False, 45.0)
    one.failed(1e8)
    assert one.wait == 3_600.0


def test_many_processes_do_not_probe_at_once() -> None:
    waits = set()
    for dice in (0.0, 0.5, 1.0):
        one = circuit(Clock(), failures=1, dice=dice)
        one.failed()
        waits.add(one.wait)
    assert waits == {10.0, 10.5, 11.0}
