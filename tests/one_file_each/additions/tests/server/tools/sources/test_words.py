"""The ``words`` source."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.cli import toolspan

EXAMPLE = Path(__file__).parents[4] / "examples" / "kinds" / "words.yaml"


def test_there_is_a_tool_for_each_word() -> None:
    ran = toolspan("tools", "list", "--json", "--config", str(EXAMPLE), cwd=EXAMPLE.parent)
    assert ran.code == 0, ran.err
    assert sorted(tool["name"] for tool in json.loads(ran.out)["tools"]) == ["no", "yes"]
