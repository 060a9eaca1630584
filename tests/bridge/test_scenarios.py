"""Every scenario over every format, streamed and whole, against strict fakes on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

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


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_it_goes_as_it_should(
    scenario: str, name: str, stream: bool, stages: Mapping[str, Stage]
) -> None:
    assert await stages[name].play(SCENARIOS[scenario], stream=stream) == []


def test_there_are_at_least_sixty_and_every_format_plays_them() -> None:
    assert len(SCENARIOS) >= 60
    assert set(PLACES) == set(format_names())
