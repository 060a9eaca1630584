"""HTML to Markdown in a child process, so that a hostile page costs no time, memory or stack here."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process

from ...common.processes import open_process
from ...errors import ToolFailure

SECONDS = 15.0
"""The longest that one page may take."""

_CHILD = str(Path(__file__).with_name("_markdown_child.py"))
_ANSWER_BYTES = 64 * 1024**2
_BROKEN = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


async def markdown_of(html: str, url: str) -> tuple[str, str]:
    """The title and the Markdown of the page ``html`` at ``url``. Raises ``ToolFailure``."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-P", _CHILD]
    process = await open_process(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env={})
    try:
        with anyio.move_on_after(SECONDS):
            answer = await _answered(process, json.dumps({"html": html, "url": url}).encode())
            if answer is not None:
                return str(answer["title"]), str(answer["markdown"])
    finally:
        with anyio.CancelScope(shield=True):
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            await process.aclose()
    raise ToolFailure(
        f"The page {url[:300]} cannot be converted to text",
        error_code="bad_page",
        user_action="Fetch another address.",
    )


async def _answered(process: Process, question: bytes) -> dict[str, Any] | None:
    assert process.stdin is not None
    assert process.stdout is not None
    received = bytearray()
    with suppress(*_BROKEN):
        await process.stdin.send(question)
        await process.stdin.aclose()
    with suppress(*_BROKEN):
        while len(received) <= _ANSWER_BYTES:
            received += await process.stdout.receive(65_536)
    try:
        return dict(json.loads(received))
    except ValueError:
        return None
