"""Handlers that run in worker processes, each of which behaves in one particular way there."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from pydantic import BaseModel

from toolspan_server import Context, ToolFailure, handler
from toolspan_server.calls.client import Question
from toolspan_server.calls.content import Content
from toolspan_server.common.changes import Change

VERSION = 1
_calls = 0
_SLEEP = [sys.executable, "-c", "import time; time.sleep(300)"]
_LEAVE_AN_ORPHAN = """
import subprocess, sys
orphan = subprocess.Popen(sys.argv[1:], start_new_session=True, env={}, stdout=subprocess.DEVNULL)
print(orphan.pid)
"""


class Unwilling(Exception):
    """Cannot be pickled."""

    def __init__(self) -> None:
        super().__init__("unwilling")

    def __reduce__(self) -> Any:
        raise TypeError("no")


class Options(BaseModel):
    unit: str


@handler("isolated_pid")
def pid(_arguments: dict[str, Any], _context: Context) -> dict[str, int]:
    """Which process this is, how often it was called, and which code it runs."""
    global _calls
    _calls += 1
    return {"pid": os.getpid(), "calls": _calls, "version": VERSION}


@handler("isolated_keep")
def keep(arguments: dict[str, Any], context: Context) -> Any:
    """What the tool has stored, once ``arguments`` are added."""
    storage = context.storage
    if "remove" in arguments:
        storage.delete(arguments["remove"])
    elif "bad" in arguments:
        storage.set("bad", object())
    elif arguments.get("clear"):
        storage.clear()
    else:
        for key, value in arguments.items():
            storage.update(key, lambda known, value=value: [*known, value], default=[])
    return {"pid": os.getpid(), "all": storage.get_all(), "a": storage.get("a", "none")}


@handler("isolated_keep_async")
async def keep_async(arguments: dict[str, Any], context: Context) -> Any:
    return keep(arguments, context)


@handler("isolated_loop")
async def loop(_arguments: dict[str, Any], _context: Context) -> int:
    return os.getpid()


@handler("isolated_inside", kind="internal")
def inside(_arguments: dict[str, Any], _context: Context) -> int:
    return os.getpid()


@handler("isolated_power")
def power(arguments: dict[str, Any], context: Context) -> int:
    """Hold the interpreter's lock for many minutes."""
    note(context, arguments, os.getpid())
    return (7**120_000_000) % 10


@handler("isolated_family")
def family(arguments: dict[str, Any], context: Context) -> None:
    """Start a child, one in a session of its own, and an orphan in another; then wait."""
    child = subprocess.Popen(_SLEEP)
    alone = subprocess.Popen(_SLEEP, start_new_session=True)
    orphan = subprocess.run(
        [sys.executable, "-c", _LEAVE_AN_ORPHAN, *_SLEEP], stdout=subprocess.PIPE, check=True
    )
    note(context, arguments, os.getpid(), child.pid, alone.pid, int(orphan.stdout))
    time.sleep(300)


@handler("isolated_wait")
def wait(arguments: dict[str, Any], context: Context) -> dict[str, int]:
    """Wait for the file ``until``, or until cancelled."""
    note(context, arguments, os.getpid())
    while not (context.config_dir / arguments["until"]).exists():
        context.raise_if_cancelled()
        time.sleep(0.01)
    return {"pid": os.getpid(), "version": VERSION}


@handler("isolated_sleep")
async def sleep(arguments: dict[str, Any], context: Context) -> None:
    """Sleep on the worker's own loop, and tell how it ended."""
    note(context, arguments, os.getpid())
    try:
        await asyncio.sleep(300)
    finally:
        (context.config_dir / "slept").touch()


def _fail(error: BaseException) -> NoReturn:
    raise error


def _spin() -> NoReturn:
    while True:
        pass


def _garbage(_context: Context) -> str:
    os.write(1, b"\xff\xff\xff\xffgarbage")
    print("printed")
    return sys.stdin.read() + os.read(0, 10).decode()


_ENDS: dict[str, Callable[[], Any]] = {
    "failure": lambda: _fail(ToolFailure("no such city", error_code="no_city", user_action="Name another.")),
    "group": lambda: _fail(ExceptionGroup("one", [ToolFailure("inner", error_code="inner")])),
    "unwilling": lambda: _fail(Unwilling()),
    "exit": lambda: sys.exit(3),
    "interrupt": lambda: _fail(KeyboardInterrupt()),
    "memory": lambda: len(bytearray(8 << 30)),
    "kill": lambda: os.kill(os.getpid(), 9),
    "leave": lambda: os._exit(3),
    "spin": _spin,
}
_RESULTS: dict[str, Callable[[Context], Any]] = {
    "nan": lambda _context: {"list": [1, float("nan")]},
    "object": lambda _context: object(),
    "tuple": lambda _context: (1, 2**70, "\ud800", {"é": None}),
    "content": lambda _context: Content(({"type": "text", "text": "hi"},), {"a": 1}, {"m": 2}),
    "large": lambda _context: "x" * 3_000_000,
    "garbage": _garbage,
    "service": lambda context: context.service("databases"),
    "services": lambda context: list(context.services),
}


@handler("isolated_outcome")
def outcome(arguments: dict[str, Any], context: Context) -> Any:
    """What ``how`` says."""
    how: str = arguments["how"]
    return _ENDS[how]() if how in _ENDS else _RESULTS[how](context)


@handler("isolated_context", talks=True, options=Options)
async def told(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """All that a handler may learn and say."""
    await context.client.progress(1, 2, "half")
    await context.client.log("info", {"a": 1})
    context.publish(Change("tools"))
    context.client.memory["seen"] = [1]
    inner = await context.call("pid", {})
    answers = await context.client.ask({"q": Question("elicitation", {"message": "Who?"})})
    return {
        "tool": context.tool_name,
        "unit": context.options.unit,
        "meta": dict(context.meta),
        "folder": str(context.config_dir),
        "accepts": [context.client.accepts("elicitation"), context.client.accepts("roots")],
        "inner": inner.result,
        "answer": answers["q"]["content"],
        "arguments": arguments,
    }


@handler("isolated_environment")
def environment(_arguments: dict[str, Any], _context: Context) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("ISOLATED_")}


def note(context: Context, arguments: dict[str, Any], *pids: int) -> None:
    """Leave the ids of processes in the file that ``note`` names, at once as a whole."""
    path = Path(context.config_dir, arguments.get("note", "noted"))
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(" ".join(map(str, pids)))
    part.replace(path)
