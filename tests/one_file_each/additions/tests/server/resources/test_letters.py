"""The content ``letters``."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolspan_server import ConfigError, load_config
from toolspan_server.resources import resources_of

CONFIG = Path(__file__).parents[3] / "configs" / "letters.yaml"


@pytest.mark.anyio
async def test_the_letters_are_read() -> None:
    resources = resources_of(load_config(CONFIG))
    assert resources is not None
    assert (await resources.read("letters:///three"))["text"] == "abc"


def test_a_number_out_of_range_is_a_problem(tmp_path: Path) -> None:
    config = tmp_path / "toolspan.yaml"
    config.write_text(CONFIG.read_text("utf-8").replace("letters: 3", "letters: 99"), "utf-8")
    with pytest.raises(ConfigError, match="must be an integer from 1 to 26"):
        load_config(config)
