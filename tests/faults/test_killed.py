"""The bridge killed at each moment of a turn: its servers end, and the conversation goes on where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import toolspan_process
from tests.support.fake_providers import Sent
from tests.support.faults import Call, Model, calls_made
from tests.support.formats import Wire
from tests.support.mcp_peers import faulty
from tests.support.waiting import BOUND_S, eventually

pytestmark = [
    pytest.mark.requirement("I12.6.3"),
    pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks into /proc, as Linux has it"),
]
DONE: Call = ("done", "s__act", {"note": "done"})
HANGS: Call = ("hangs", "s__act", {"note": "hangs", "fault": "hangs"})
STALLS = Sent(stall=True)

MOMENTS: dict[str, tuple[list[list[Call]], dict[int, list[Sent]], Callable[[Model, list[str]], bool]]] = {
    "before the first byte": ([[DONE]], {0: [STALLS]}, lambda model, made: len(model.received) == 1),
    "within a call": ([[HANGS]], {}, lambda model, made: made == ["hangs"]),
    "within one of two calls": ([[DONE, HANGS]], {}, lambda model, made: set(made) == {"done", "hangs"}),
    "in the second turn": (
        [[DONE], [HANGS]],
        {},
        lambda model, made: made == ["done", "hangs"],
    ),
    "before the answer": ([[DONE]], {1: [STALLS]}, lambda model, made: len(model.received) == 2),
}
"""What the model does until then, and when it is then: by its requests, and the calls that were made."""


def write_config(folder: Path, model: Model) -> None:
    server = faulty(folder / "s.log", name="s")
    entry = {"command": server.command[0], "args": list(server.command[1:])}
    provider = {"base_url": f"{model.url}/v1", "api_key": "sk-made-up"}
    config = {"providers": {"acme": provider}, "mcpServers": {"s": entry}}
    (folder / "toolspan.json").write_text(json.dumps(config))


def asked(folder: Path, text: str, *more: str) -> list[str]:
    options = ("--model", "acme/m", "--config", "toolspan.json", "--approval", "never")
    return ["ask", text, *options, *more]


def running(folder: Path) -> list[str]:
    """The processes that have the log of the server in ``folder`` among their arguments."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes()
        except OSError:
            continue
        if str(folder / "s.log").encode() in arguments:
            found.append(path.parent.name)
    return found


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(each, marks=[] if each == "within one of two calls" else [pytest.mark.long])
        for each in MOMENTS
    ],
)
def test_a_killed_question_leaves_no_server_and_a_conversation_that_goes_on(
    tmp_path: Path, moment: str
) -> None:
    turns, trouble, is_then = MOMENTS[moment]
    with Model(Wire("openai"), turns, trouble) as model:
        write_config(tmp_path, model)
        process = subprocess.Popen(
            [sys.executable, "-m", "toolspan_bridge", *asked(tmp_path, "Hello?")],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(tmp_path),
        )
        try:
            assert eventually(lambda: is_then(model, calls_made(tmp_path, "s")))
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(BOUND_S)
        assert eventually(lambda: not running(tmp_path))
        made = calls_made(tmp_path, "s")
        resumed = asked(tmp_path, "And?", "--continue", "--json")
        again = toolspan_process(*resumed, cwd=tmp_path, **environment(tmp_path))
        assert (again.code, again.json["content"]) == (0, "Still here."), again.err
        assert calls_made(tmp_path, "s") == made
        heard = list(Wire("openai").answers.conversation(model.received[-1].body))
        assert next(entry[1] for entry in heard if entry[0] == "user") == "Hello?"
        sent = model.received[-1].body["messages"]
        ids = [each["tool_call_id"] for each in sent if each["role"] == "tool"]
        assert ids == [call["id"] for each in sent for call in each.get("tool_calls", ())]


def environment(folder: Path) -> dict[str, Any]:
    return {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder)}
