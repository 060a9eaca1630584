"""Calls that run at once: each result says whose it is, in a pipe too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import toolspan
from tests.support.workspace_chats import script

CONFIG = """
tools:
  registry:
    - name: weather
      description: Weather
      parameters: {type: object, properties: {place: {type: string}}, required: [place]}
      implementation: {type: mock, response: "rain at {{ place }}"}
"""


@pytest.mark.requirement("I13.4.43")
def test_results_of_parallel_calls_name_their_calls_and_a_single_one_does_not(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    oslo, rome = (("weather", {"place": place}) for place in ("Oslo", "Rome"))
    model = script(tmp_path, [oslo, rome], oslo, "Rain.")
    ran = toolspan("ask", "How?", "-m", model, "--trust", "--no-save", cwd=tmp_path)
    assert ran.out == "Rain.\n"
    lines = [line.partition("  (")[0] for line in ran.err.splitlines() if line[0] in "→←"]
    assert lines[:2] == ["→ weather(place=Oslo)", "→ weather(place=Rome)"]
    assert sorted(lines[2:4]) == [
        "← weather(place=Oslo): rain at Oslo",
        "← weather(place=Rome): rain at Rome",
    ]
    assert lines[4:6] == ["→ weather(place=Oslo)", "← rain at Oslo"]
