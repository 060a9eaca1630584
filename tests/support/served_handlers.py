"""Handlers of the config that tests/support/served.py writes: each behaves in one particular way."""

from __future__ import annotations

import ctypes
import logging
import os
import subprocess
import sys
import threading
from typing import Any

import anyio

from toolspan_server import Context, ToolFailure, handler

print("printed while the handlers' module is imported")
released = threading.Event()


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
    threading.Thread(target=released.wait, args=(60,), daemon=False).start()
    return "left behind"


@handler("tests_freeze")
async def freeze(_arguments: dict[str, Any], context: Context) -> str:
    """Freeze the event loop itself."""
    (context.config_dir / "frozen").touch()
    released.wait(60)
    return "thawed"


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


@handler("tests_exit")
def leave(_arguments: dict[str, Any], _context: Context) -> Any:
    sys.exit(3)
