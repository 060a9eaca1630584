"""``toolspan count``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.cli import toolspan


def test_the_characters_are_counted(tmp_path: Path) -> None:
    assert toolspan("count", "hello", cwd=tmp_path).out == "5 characters\n"
    assert json.loads(toolspan("count", "hello", "--json", cwd=tmp_path).out) == {"characters": 5}
