"""PDF: the text of each page. A child process reads it, so that a bad file costs no time or memory here."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from threading import Event
from typing import Any

from .._document import Document, Outline, UnreadableFile
from ._decoding import without_controls

SECONDS = 30.0
"""The longest that one file may take."""

_CHILD = Path(__file__).with_name("_pdf_child.py")
_STOP_POLL = 0.1


def read(data: bytes, stop: Event) -> Document:
    """Read a PDF; each page is a section ``Page n``, the title is the metadata's.

    Raises ``UnreadableFile`` for encrypted and broken files, and for those that take too long.
    """
    answer = _answer_of_child(data, stop)
    if "error" in answer:
        raise UnreadableFile(str(answer["error"]))
    outline = Outline()
    for number, page in answer["pages"]:
        text = without_controls(page).strip()
        if text:
            outline.heading(1, f"Page {number}")
            outline.text(text)
    document = outline.document()
    if not document.sections:
        raise UnreadableFile("a PDF without text (scanned pages?)")
    return Document(str(answer["title"]), document.sections)


def _answer_of_child(data: bytes, stop: Event) -> dict[str, Any]:
    command = [sys.executable, "-P", str(_CHILD)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as child:
        try:
            output = _output(child, data, stop)
        finally:
            child.kill()
    try:
        answer = json.loads(output)
    except ValueError:
        raise UnreadableFile(f"the PDF reader ended with status {child.returncode}") from None
    return dict(answer)


def _output(child: subprocess.Popen[bytes], data: bytes, stop: Event) -> bytes:
    deadline = time.monotonic() + SECONDS
    remaining: bytes | None = data
    while True:
        try:
            return child.communicate(remaining, timeout=_STOP_POLL)[0]
        except subprocess.TimeoutExpired:
            remaining = None
        if stop.is_set():
            raise UnreadableFile("stopped")
        if time.monotonic() > deadline:
            raise UnreadableFile(f"a PDF that takes longer than {SECONDS:g} s to read")
