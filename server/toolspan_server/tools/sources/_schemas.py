"""Checks schemas from elsewhere before they are used: off the event loop, in bounded time and memory.

Compiling a schema holds the interpreter's lock in any thread, and cannot be interrupted; so a child process
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
"""The most processor time for one schema, in seconds: a busy machine makes no schema slow."""

WALL_SECONDS = 60.0
"""The longest that one schema is waited for."""

MAX_BYTES = 262_144
"""The largest schema, in bytes of JSON."""

MAX_CHILDREN = 8
"""How many child processes one server's schemas may use; each schema that is too slow takes one."""

ALL_SECONDS = 20.0
"""The most processor time for all schemas of one server, in seconds."""

ALL_WALL_SECONDS = 120.0
"""The longest that all schemas of one server are waited for."""

_START_SECONDS = 60.0
_REMEMBERED = 4_096
_LONGEST_REMEMBERED = 8_192
_MODULE = "toolspan_server.tools.sources._schema_child"
_TOO_SLOW = f"it takes longer than {SECONDS:g} s to compile"
_TOO_MANY = "not looked at: the others of this server took too long"
_VERDICT_BYTES = 8_192


async def judged(schemas: Sequence[Mapping[str, Any]]) -> list[str]:
    """For each of ``schemas`` its error as the schema of an object, or an empty string.

    Nothing is fetched: a reference out of the schema is an error.
    """
    lines = await anyio.to_thread.run_sync(partial(_lines, schemas))
    waiting = [line for line in dict.fromkeys(lines) if line[:1] == "{" and line not in _remembered]
    verdicts: dict[str, str] = {}
    with anyio.move_on_after(ALL_WALL_SECONDS):
        spent = 0.0
        for _ in range(MAX_CHILDREN):
            if not waiting or spent > ALL_SECONDS:
                break
            spent += await _child_judges(waiting, verdicts, ALL_SECONDS - spent)
            waiting = [line for line in waiting if line not in verdicts]
    known = {**_remembered, **verdicts}
    _remember(verdicts)
    return [_fault_at_once(line) if line[:1] != "{" else known.get(line, _TOO_MANY) for line in lines]


_remembered: dict[str, str] = {}


def _remember(verdicts: Mapping[str, str]) -> None:
    """Cache ``verdicts``, the newest only, so that listing the same tools again costs nothing.

    A verdict that depends on the time taken is not cached: the machine may have been busy.
    """
    for line, verdict in verdicts.items():
        if verdict != _TOO_SLOW and len(line) <= _LONGEST_REMEMBERED:
            _remembered[line] = verdict
    while len(_remembered) > _REMEMBERED:
        del _remembered[next(iter(_remembered))]


def _lines(schemas: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each schema as JSON; empty where no check is needed, with a marker where the error is known already."""
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


async def _child_judges(lines: Sequence[str], verdicts: dict[str, str], most: float = ALL_SECONDS) -> float:
    """Add the verdicts on ``lines``, up to the first that is too slow and as long as they take no more than
    ``most`` seconds of processor time; returns how many they took."""
    command = [sys.executable, "-P", "-m", _MODULE, str(SECONDS)]
    process = await open_process(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=_environment())
    assert process.stdin is not None and process.stdout is not None
    answers = BufferedByteReceiveStream(process.stdout)
    spent, line = 0.0, ""
    try:
        with anyio.fail_after(_START_SECONDS):
            await _next(answers)
        for line in lines:
            with anyio.fail_after(WALL_SECONDS):
                await process.stdin.send(line.encode() + b"\n")
                verdicts[line], took = await _next(answers)
            spent += took
            if spent > most:
                break
    except (TimeoutError, anyio.BrokenResourceError, anyio.IncompleteRead, anyio.EndOfStream):
        if line:
            verdicts[line], spent = _TOO_SLOW, spent + SECONDS
    finally:
        await _ended(process)
    return spent


async def _next(answers: BufferedByteReceiveStream) -> tuple[str, float]:
    """A verdict, and the seconds of processor time that it took."""
    verdict, seconds = json.loads(await answers.receive_until(b"\n", _VERDICT_BYTES))
    return str(verdict), float(seconds)


async def _ended(process: Process) -> None:
    with anyio.CancelScope(shield=True):
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        await process.aclose()


def _environment() -> dict[str, str]:
    """The variables that an interpreter needs to start: none of the server's secrets."""
    wanted = ("PATH", "HOME", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV", "PYTHONPATH", "TMPDIR", "TEMP")
    return {name: os.environ[name] for name in wanted if name in os.environ}
