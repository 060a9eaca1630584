"""What is piped into a verb that asks: the question itself, or text that goes with it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...errors import UsageError
from ...messages import Part
from ...sessions import attachments
from ..terminal.output import print_note

MAX_BYTES = attachments.MAX_TEXT_BYTES
"""The most bytes of text that are read from stdin."""

_PATIENCE = 1.0
"""Seconds after which stderr says that stdin is waited for."""
_NO_QUESTION = (
    'no question: write it (toolspan ask "…"), pipe it in (echo "…" | toolspan ask), or pipe in the text '
    'that it is about (cat notes.txt | toolspan ask "Summarise this")'
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the text that was piped in beside it, as a part of the message."""

    text: str
    parts: tuple[Part, ...] = ()


def asked_with_stdin(question: str | None, *, reads_stdin: bool = True) -> Asked:
    """The ``question`` with what stdin has. Without one, or for ``-``, stdin is the question; beside one, it
    is a part of its own (an MCP resource named ``stdin``). A terminal is read for ``-`` alone.

    Without ``reads_stdin``, stdin is taken by something else. Raises ``UsageError`` where there is no
    question, and for stdin that is no text or more than ``MAX_BYTES``.
    """
    text = (question or "").strip()
    wanted = text in ("", "-")
    if wanted and not reads_stdin:
        raise UsageError("stdin is a file of the question here (--file -): write the question itself")
    piped = read_stdin(terminal_too=text == "-") if reads_stdin else ""
    if question is not None and not text:
        raise UsageError(f"the question is empty: {_NO_QUESTION}")
    if wanted:
        if not piped.strip():
            raise UsageError(_NO_QUESTION)
        return Asked(piped.strip())
    if not piped.strip():
        return Asked(text)
    resource = {"uri": "stdin", "mimeType": "text/plain", "text": piped}
    return Asked(text, (Part("resource", {"type": "resource", "resource": resource}),))


def prompt_of(path: str, question: str | None) -> str:
    """The text of the file ``path``, without a first line ``#!…``, and ``question`` after it, if any:
    so a file of a prompt can be a program. Raises ``UsageError``."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as fault:
        raise UsageError(f"the prompt {path} cannot be read: {fault.strerror}") from None
    if len(data) > MAX_BYTES:
        raise UsageError(f"the prompt {path} is larger than {MAX_BYTES:,} bytes: make it shorter")
    text = as_text(data, path)
    if text.startswith("#!"):
        text = text.partition("\n")[2]
    if not text.strip():
        raise UsageError(f"the prompt {path} has no text")
    return "\n\n".join(filter(None, (text.strip(), (question or "").strip())))


def read_stdin(*, terminal_too: bool = False) -> str:
    """All of stdin as text; nothing of a terminal, unless ``terminal_too``. Raises ``UsageError``."""
    if sys.stdin.closed or (sys.stdin.isatty() and not terminal_too):
        return ""
    with _said_when_waiting():
        data = stdin_bytes(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UsageError(
            f"stdin has more than {MAX_BYTES:,} bytes of text: pass a part of it (head -c, tail -c, grep), "
            "or let a tool read the file (--workspace DIR)"
        )
    return as_text(data, "stdin")


def stdin_bytes(most: int) -> bytes:
    """The first ``most`` bytes of stdin."""
    binary = getattr(sys.stdin, "buffer", None)
    return sys.stdin.read(most).encode() if binary is None else binary.read(most)


def as_text(data: bytes, origin: str) -> str:
    """``data`` as text. Raises ``UsageError`` for what is none."""
    hint = ": a picture, PDF or sound goes with the question by --file -" if origin == "stdin" else ""
    return attachments.as_text(data, origin, hint)


@contextmanager
def _said_when_waiting() -> Generator[None]:
    timer = threading.Timer(
        _PATIENCE,
        print_note,
        ["waiting for the end of stdin (Ctrl+D at a terminal; </dev/null where nothing is to be read)"],
    )
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
