"""The ``median`` handler."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolspan_server import load_config, running
from toolspan_server.calls.caller import LOCAL

CONFIG = Path(__file__).parents[4] / "configs" / "statistics.yaml"


@pytest.mark.anyio
async def test_the_median_is_the_number_in_the_middle() -> None:
    async with running(load_config(CONFIG)) as executor:
        assert (await executor.execute("middle", {"numbers": [9, 1, 5]}, LOCAL)).result == {"median": 5}
