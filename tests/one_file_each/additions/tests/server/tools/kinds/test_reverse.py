"""The ``reverse`` kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolspan_server import load_config, running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.errors import ConfigError

EXAMPLE = Path(__file__).parents[4] / "examples" / "kinds" / "reverse.yaml"


@pytest.mark.anyio
async def test_a_text_is_given_backwards() -> None:
    async with running(load_config(EXAMPLE)) as executor:
        assert (await executor.execute("backwards", {"text": "stressed"}, LOCAL)).result == "desserts"


def test_an_unknown_parameter_is_a_problem_with_its_place(tmp_path: Path) -> None:
    config = tmp_path / "toolspan.yaml"
    config.write_text(EXAMPLE.read_text("utf-8").replace("argument: text", "argument: txt"), "utf-8")
    with pytest.raises(ConfigError, match=r"the tool has no parameter 'txt'"):
        load_config(config)
