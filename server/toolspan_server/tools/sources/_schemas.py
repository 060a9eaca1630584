"""Schemas that others wrote, judged before any is used: off the event loop, in bounded time and memory.

Compiling one holds the interpreter's lock, whatever thread it is in, and cannot be ended; so a child process
does it first. Schemas that ``is_certain`` accepts need none.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from subprocess import DEVNULL, PIPE
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from ...common.processes import open_process
from ...common.slices import without_pauses
from ...engines.parameters import is_certain

SECONDS = 1.0
"""The longest that one schema may take."""

MAX_BYTES = 262_144
"""The largest schema, in bytes of JSON."""

MAX_CHILDREN = 8
"""How many child processes are spent on the schemas of one server; each too slow schema costs two."""

ALL_SECONDS = 20.0
"""The longest that the schemas of one server may take together."""

_START_SECONDS = 20.0
_REMEMBERED = 4_096
_LONGEST_REMEMBERED = 8_192
_MODULE = "toolspan_server.tools.sources._schema_child"
_TOO_SLOW = f"it takes longer than {SECONDS:g} s to compile"
_TOO_MANY = "not looked at: the others of this server took too long"
_VERDICT_BYTES = 8_192


async def judged(schemas: Sequence[Mapping[str, Any]]) -> list[str]:
    """For each of ``schemas`` what is wrong with it as the schema of an object, or nothing.

    Nothing is fetched: a reference that leads out of the schema is a fault.
    """
    lines = await anyio.to_thread.run_sync(partial(_lines, schemas))
    waiting = [line for line in dict.fromkeys(lines) if line[:1] == "{" and line not in _remembered]
    verdicts: dict[str, str] = {}
    with anyio.move_on_after(ALL_SECONDS):
        slow: set[str] = set()
        for _ in range(MAX_CHILDREN):
            if not waiting:
                break
            late = await _child_judges(waiting, verdicts)
            waiting = [line for line in waiting if line not in verdicts and line != late]
            if late in slow:
                verdicts[late] = _TOO_SLOW
            elif late:
                slow.add(late)
                waiting.append(late)  # the machine may have been busy
    known = {**_remembered, **verdicts}
    _remember(verdicts)
    return [_fault_at_once(line) if line[:1] != "{" else known.get(line, _TOO_MANY) for line in lines]


_remembered: dict[str, str] = {}


def _remember(verdicts: Mapping[str, str]) -> None:
    """Keep ``verdicts``, the newest only, so that a list that is read again costs nothing.

    One that came of the time is not kept: the machine may have been busy.
    """
    for line, verdict in verdicts.items():
        if verdict != _TOO_SLOW and len(line) <= _LONGEST_REMEMBERED:
            _remembered[line] = verdict
    while len(_remembered) > _REMEMBERED:
        del _remembered[next(iter(_remembered))]


def _lines(schemas: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each as JSON; empty where nothing is to be judged, with a mark where the fault is known already."""
    return [_line(schema) for schema in without_pauses(schemas)]


def _line(schema: Mapping[str, Any]) -> str:
    try:
        line = json.dumps(schema, allow_nan=False)
    except (ValueError, RecursionError):
        return "!it is no JSON"
    if len(line) > MAX_BYTES:
        return f"!it is larger than {MAX_BYTES} bytes"
    return "" if is_certain(schema) else line


def _fault_at_once(line: str) -> str:
    return line.removeprefix("!") if line[:1] == "!" else ""


async def _child_judges(lines: Sequence[str], verdicts: dict[str, str]) -> str:
    """Add the verdicts on ``lines`` up to one that takes too long; gives that one."""
    command = [sys.executable, "-P", "-m", _MODULE]
    process = await open_process(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=_environment())
    assert process.stdin is not None and process.stdout is not None
    answers = BufferedByteReceiveStream(process.stdout)
    line = ""
    try:
        with anyio.fail_after(_START_SECONDS):
            await _next(answers)
        for line in lines:
            with anyio.fail_after(SECONDS):
                await process.stdin.send(line.encode() + b"\n")
                verdicts[line] = await _next(answers)
    except (TimeoutError, anyio.BrokenResourceError, anyio.IncompleteRead, anyio.EndOfStream):
        return line
    finally:
        await _ended(process)
    return ""


async def _next(answers: BufferedByteReceiveStream) -> str:
    return str(json.loads(await answers.receive_until(b"\n", _VERDICT_BYTES)))


async def _ended(process: Process) -> None:
    with anyio.CancelScope(shield=True):
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        await process.aclose()


def _environment() -> dict[str, str]:
    """Only what an interpreter needs to start: no secret of the server's."""
    wanted = ("PATH", "HOME", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV", "PYTHONPATH", "TMPDIR", "TEMP")
    return {name: os.environ[name] for name in wanted if name in os.environ}
