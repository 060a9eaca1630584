"""The ``queues`` service: a found config connects to its hosts only when a person allowed it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.cli import toolspan

GREET = {
    "name": "greet",
    "description": "Greet a person",
    "implementation": {"type": "mock", "mock_response": "hello"},
}


def write(folder: Path, **queue: str) -> str:
    config = {"services": {"queues": {"orders": queue}}, "tools": {"registry": [GREET]}}
    (folder / "toolspan.json").write_text(json.dumps(config))
    return f"({folder / 'toolspan.json'}: $.services.queues.orders"


def test_a_found_config_starts_and_connects_to_nothing_unasked(tmp_path: Path) -> None:
    place = write(tmp_path, host="queue.example")
    restricted = toolspan("tools", "call", "greet", cwd=tmp_path)
    assert (restricted.code, restricted.out) == (0, "hello\n")
    assert "left out" in restricted.err
    assert f"queue-client --user toolspan  {place})" in restricted.err
    assert f"connect to the queue on queue.example  {place})" in restricted.err
    trusted = toolspan("tools", "call", "greet", "--trust", cwd=tmp_path)
    assert trusted.out == "hello\n" and "left out" not in trusted.err


def test_variables_are_shown_with_the_host_that_they_go_to_unless_they_stay_here(tmp_path: Path) -> None:
    place = write(tmp_path, host="queue.example", user="${ME}", spool="${SPOOL}")
    restricted = toolspan("tools", "call", "greet", cwd=tmp_path, ME="secret-name", SPOOL="there.spool")
    assert f"send $ME to queue.example  {place}.user)" in restricted.err
    assert "$SPOOL" not in restricted.err and "secret-name" not in restricted.err
