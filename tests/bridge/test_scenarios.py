"""Every scenario over every format, streamed and whole, against strict fakes on loopback.

``make test`` plays each one way in each format, in turns whole and streamed; ``make test-all`` the other way.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import pytest

from tests.support.scenarios import PLACES, SCENARIOS, Stage, open_stages
from toolspan_bridge.formats import format_names

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I5.4.1", "I5.4.2", "I5.4.5")]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def stages() -> AsyncIterator[Mapping[str, Stage]]:
    async with open_stages() as opened:
        yield opened


def runs() -> Iterator[Any]:
    """Every scenario in every format, in turns whole and streamed; the other way is marked ``long``."""
    for row, scenario in enumerate(SCENARIOS):
        for column, name in enumerate(PLACES):
            for stream, how in ((False, "whole"), (True, "streamed")):
                later = (row + column) % 2 == stream
                marks = [pytest.mark.long] if later else []
                yield pytest.param(scenario, name, stream, id=f"{scenario}-{name}-{how}", marks=marks)


@pytest.mark.parametrize(("scenario", "name", "stream"), list(runs()))
async def test_it_goes_as_it_should(
    scenario: str, name: str, stream: bool, stages: Mapping[str, Stage]
) -> None:
    assert await stages[name].play(SCENARIOS[scenario], stream=stream) == []


def test_there_are_at_least_sixty_and_every_format_plays_them() -> None:
    assert len(SCENARIOS) >= 60
    assert set(PLACES) == set(format_names())
