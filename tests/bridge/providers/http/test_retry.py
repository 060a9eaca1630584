"""How often and after how long a request is sent again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_bridge.providers.http.retry import RetryPolicy


@pytest.mark.requirement("I2.6.2")
@given(attempt=st.integers(1, 50), dice=st.floats(0, 1))
def test_a_wait_is_half_a_second_doubled_at_most_eight_less_a_quarter_of_jitter(
    attempt: int, dice: float
) -> None:
    full = min(0.5 * 2 ** (attempt - 1), 8.0)
    assert full * 0.75 <= RetryPolicy().backoff(attempt, dice) <= full


def test_there_are_two_retries() -> None:
    assert RetryPolicy().retries == 2
