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
    refused = toolspan("tools", "call", "greet", cwd=tmp_path)
    assert (refused.code, refused.out) == (2, "")
    assert f"queue-client --user toolspan  {place})" in refused.err
    assert f"connect to the queue on queue.example  {place})" in refused.err
    assert toolspan("tools", "call", "greet", "--trust", cwd=tmp_path).out == "hello\n"


def test_variables_are_shown_with_the_host_that_they_go_to_unless_they_stay_here(tmp_path: Path) -> None:
    place = write(tmp_path, host="queue.example", user="${ME}", spool="${SPOOL}")
    refused = toolspan("tools", "call", "greet", cwd=tmp_path, ME="secret-name", SPOOL="there.spool")
    assert f"send $ME to queue.example  {place}.user)" in refused.err
    assert "$SPOOL" not in refused.err and "secret-name" not in refused.err
