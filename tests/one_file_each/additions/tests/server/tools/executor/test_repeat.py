"""The ``repeat`` step."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolspan_server import load_config, running
from toolspan_server.calls.caller import LOCAL

CONFIG = Path(__file__).parents[4] / "configs" / "repeat.yaml"


@pytest.mark.anyio
async def test_the_result_is_given_as_often_as_the_tool_says() -> None:
    async with running(load_config(CONFIG)) as executor:
        assert (await executor.execute("knock", None, LOCAL)).result == ["knock"] * 3
