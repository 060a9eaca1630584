"""Bytes of a page to text in a child process, so that a hostile page costs no time, memory or stack here."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import anyio
from anyio.abc import Process

from ...common.processes import open_process
from ...errors import ToolFailure

SECONDS = 15.0
"""The longest that one page may take."""

_CHILD = str(Path(__file__).with_name("_markdown_child.py"))
_ANSWER_BYTES = 64 * 1024**2
_BROKEN = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


async def read_page(body: bytes, charset: str, url: str, *, is_html: bool) -> tuple[str, str]:
    """The title and the text of the page at ``url``, whose ``body`` is in ``charset``: Markdown where it
    ``is_html``. What the charset does not know is replaced. Raises ``ToolFailure``."""
    pipe = subprocess.PIPE
    head = json.dumps({"charset": charset, "url": url, "is_html": is_html}).encode()
    command = [sys.executable, "-P", _CHILD]
    process = await open_process(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env={})
    try:
        with anyio.move_on_after(SECONDS):
            answer = await _answered(process, head + b"\n" + body)
            if answer is not None:
                return answer
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


async def _answered(process: Process, question: bytes) -> tuple[str, str] | None:
    assert process.stdin is not None
    assert process.stdout is not None
    received = bytearray()
    with suppress(*_BROKEN):
        await process.stdin.send(question)
        await process.stdin.aclose()
    with suppress(*_BROKEN):
        while len(received) <= _ANSWER_BYTES:
            received += await process.stdout.receive(65_536)
    head, ended, text = bytes(received).partition(b"\n")
    if not ended:
        return None
    return str(json.loads(head)["title"]), text.decode("utf-8", "replace")
