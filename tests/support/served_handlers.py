"""Handlers of the config that tests/support/served.py writes: each behaves in one particular way."""

from __future__ import annotations

import atexit
import ctypes
import importlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import anyio

from toolspan_server import Context, ToolFailure, handler

print("printed while the handlers' module is imported")
released = threading.Event()
FOR_EVER_S = 3_600


def _patient(grace_s: float) -> None:
    """Have running calls get ``grace_s`` at the end, and all else as long as a slow machine needs."""
    importlib.import_module("toolspan_server.protocol.http.workers")
    far = grace_s + 100
    deadlines = {"GRACE_S": grace_s, "LIMIT_S": far, "_END_S": far, "_STEADY_S": FOR_EVER_S}
    for name, module in list(sys.modules.items()):
        if name.startswith("toolspan_server.protocol"):
            vars(module).update({key: deadlines[key] for key in deadlines if hasattr(module, key)})


if "TESTS_GRACE_S" in os.environ:
    _patient(float(os.environ["TESTS_GRACE_S"]))


@handler("tests_echo")
def echo(arguments: dict[str, Any], _context: Context) -> Any:
    return arguments.get("value")


@handler("tests_noise")
def noise(_arguments: dict[str, Any], _context: Context) -> str:
    """Write to standard output in every way there is."""
    print("printed", flush=True)
    sys.stdout.buffer.write(b"written to the buffer\n")
    sys.stdout.flush()
    os.write(1, b"written to descriptor 1\n")
    subprocess.run([sys.executable, "-c", "print('printed by a child')"], check=True)
    libc = ctypes.CDLL(None)
    libc.puts(b"put by C")
    libc.fflush(None)
    return "quiet on the wire"


@handler("tests_stdin")
def stdin(_arguments: dict[str, Any], _context: Context) -> str:
    return sys.stdin.read() + os.read(0, 10).decode()


@handler("tests_block")
def block(arguments: dict[str, Any], context: Context) -> str:
    """Block a worker thread for ``seconds``, deaf to cancellation."""
    (context.config_dir / "blocking").touch()
    released.wait(arguments["seconds"])
    return "unblocked"


@handler("tests_wait")
async def wait(arguments: dict[str, Any], context: Context) -> str:
    """Wait for ``seconds`` and leave a file named ``note`` when cancelled."""
    (context.config_dir / f"{arguments['note']}.started").touch()
    try:
        await anyio.sleep(arguments["seconds"])
    except BaseException:
        (context.config_dir / arguments["note"]).touch()
        raise
    return "waited"


@handler("tests_thread")
def thread(_arguments: dict[str, Any], _context: Context) -> str:
    """Leave a thread behind that the interpreter would wait for."""
    threading.Thread(target=released.wait, args=(FOR_EVER_S,), daemon=False).start()
    return "left behind"


@handler("tests_compute")
def compute(arguments: dict[str, Any], _context: Context) -> int:
    """Compute in a worker thread, for ``seconds`` of its own processor time."""
    end, found = time.thread_time() + arguments["seconds"], 0
    while time.thread_time() < end:
        found += sum(number * number for number in range(1_000))
    return found


@handler("tests_freeze")
async def freeze(arguments: dict[str, Any], context: Context) -> str:
    """Freeze the event loop itself, ``after`` some seconds."""
    await anyio.sleep(arguments.get("after", 0))
    (context.config_dir / "frozen").touch()
    released.wait(FOR_EVER_S)
    return "thawed"


@handler("tests_hold")
async def hold(arguments: dict[str, Any], context: Context) -> str:
    """Hold the event loop for ``seconds``, within the turn in which the call was read."""
    if seconds := arguments["seconds"]:
        (context.config_dir / "held").touch()
        released.wait(seconds)
    return "let go"


@handler("tests_stop")
async def stop(_arguments: dict[str, Any], _context: Context) -> str:
    """Send the server SIGTERM, within the turn in which the call was read."""
    os.kill(os.getpid(), signal.SIGTERM)
    return "stopped"


@handler("tests_surrogate")
def surrogate(arguments: dict[str, Any], _context: Context) -> Any:
    if arguments.get("fail"):
        raise ToolFailure("no such file: \udcff", user_action="Rename \udcff.")
    return {"name": "\udcff", "\udcfe": 1}


@handler("tests_large")
def large(arguments: dict[str, Any], _context: Context) -> str:
    return "x" * arguments["size"]


@handler("tests_meta")
def meta(_arguments: dict[str, Any], context: Context) -> Any:
    return dict(context.meta)


@handler("tests_fault")
def fault(_arguments: dict[str, Any], _context: Context) -> Any:
    logging.getLogger("tests").warning("one\ntwo %s", os.environ.get("TESTS_SECRET", ""))
    raise RuntimeError("it broke with " + os.environ.get("TESTS_SECRET", "no secret"))


@handler("tests_raise")
def throw(arguments: dict[str, Any], _context: Context) -> Any:
    """Fail in the way named: so that ordinary handlers of exceptions do not help."""
    if arguments["how"] == "recursion":
        return throw(arguments, _context)
    if arguments["how"] == "memory":
        return bytearray(1 << 62)
    raise {"exit": SystemExit, "interrupt": KeyboardInterrupt}[arguments["how"]](3)


@handler("tests_raise_async")
async def throw_async(arguments: dict[str, Any], context: Context) -> Any:
    """The same on the event loop, after a first wait if asked."""
    await anyio.sleep(arguments.get("after", 0))
    return throw(arguments, context)


@handler("tests_stdout")
def stdout(arguments: dict[str, Any], _context: Context) -> str:
    """Do to standard output what nobody should."""
    atexit.register(print, "printed at exit")
    atexit.register(os.write, 1, b"written at exit\n")
    if arguments["how"] == "replace":
        sys.stdout = sys.__stdout__ = None  # type: ignore[misc]  # as a handler might
    elif arguments["how"] == "close":
        os.close(1)
    return "done"


_crowd = {"now": 0, "most": 0}


@handler("tests_crowd")
async def crowd(_arguments: dict[str, Any], _context: Context) -> int:
    """The most calls of this tool that ran at the same time so far."""
    _crowd["now"] += 1
    _crowd["most"] = max(_crowd.values())
    await anyio.sleep(0.001)
    _crowd["now"] -= 1
    return _crowd["most"]


@handler("tests_exit")
def leave(_arguments: dict[str, Any], _context: Context) -> Any:
    sys.exit(3)


@handler("tests_imported")
def imported(arguments: dict[str, Any], _context: Context) -> list[str]:
    """Which of the modules named are imported in the server."""
    return [name for name in arguments["names"] if name in sys.modules]


@handler("tests_process")
def process(_arguments: dict[str, Any], _context: Context) -> int:
    """The process that serves the call."""
    return os.getpid()


@handler("tests_die")
def die(_arguments: dict[str, Any], _context: Context) -> None:
    """Die at once, as from a fault in C code."""
    os._exit(7)


@handler("tests_odd")
def odd(_arguments: dict[str, Any], _context: Context) -> Any:
    """A result with a field that JSON cannot hold."""
    return {"rows": [{"ok": 1}, {"value": float("nan")}]}
