"""Exchanges with live providers, written to files, to be replayed by tests.

    {"toolspan_recording": 1, "date": "2026-11-22", "provider", "format", "model", "path": "/v1/…",
     "streamed": true, "asked": {…}, "request": {…}, "status": 200, "content_type", "reply": "data: …"}

``asked`` is the ``Request``, ``request`` its body on the wire, ``reply`` the bytes of the answer as text;
``reply_base64`` stands in its place where they are none. No header of a request is written.
"""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import anyio.to_thread

from toolspan_server.common.state.folder import private_folder
from toolspan_server.common.state.private_files import write_private

from ...errors import StoreError
from ...messages import Assistant, Request, ToolResults, User

__all__ = ["VERSION", "Exchange", "Recorder"]

VERSION = 1
_ROLES = {User: "user", Assistant: "assistant", ToolResults: "tool_results"}
_NUMBERS = count(1)  # over all recorders of the process: no two files have one name
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, as they were on the wire."""

    provider: str
    format: str
    asked: Request
    url: str
    body: bytes
    status: int
    content_type: str
    reply: bytes


class Recorder:
    """Writes exchanges into ``folder``, one file each, readable by their owner only. ``redact`` takes the
    secrets out of a text."""

    def __init__(self, folder: Path, redact: Callable[[str], str]) -> None:
        self._folder = folder
        self._redact = redact

    async def keep(self, exchange: Exchange, redact: Callable[[str], str]) -> Path:
        """The file of ``exchange``; ``redact`` knows the provider's own secrets.

        Raises ``StoreError`` when it cannot be written.
        """
        now = datetime.now(UTC)
        number = f"{next(_NUMBERS):03}"
        name = _NOT_IN_A_NAME.sub("-", f"{now:%Y%m%dT%H%M%S}-{os.getpid()}-{number}-{exchange.provider}")
        path = self._folder / f"{name}.json"

        def clean(text: str) -> str:
            return self._redact(redact(text))

        data = clean(_written(exchange, f"{now:%Y-%m-%d}", clean)) + "\n"
        try:
            await anyio.to_thread.run_sync(_write, path, data)
        except OSError as error:
            why = error.strerror or str(error)
            raise StoreError(f"the recording {path} cannot be written: {why}") from None
        return path


def _write(path: Path, data: str) -> None:
    private_folder(path.parent)
    write_private(path, data.encode(errors="replace"))


def _written(exchange: Exchange, date: str, redact: Callable[[str], str]) -> str:
    try:
        reply = {"reply": redact(exchange.reply.decode())}
    except UnicodeDecodeError:
        reply = {"reply_base64": b64encode(exchange.reply).decode()}
    whole = {
        "toolspan_recording": VERSION,
        "date": date,
        "provider": exchange.provider,
        "format": exchange.format,
        "model": exchange.asked.model,
        "path": urlsplit(exchange.url).path,
        "streamed": exchange.asked.stream,
        "asked": exchange.asked,
        "request": json.loads(exchange.body),
        "status": exchange.status,
        "content_type": exchange.content_type,
        **reply,
    }
    return json.dumps(whole, ensure_ascii=False, indent=1, default=_plain)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        role = _ROLES.get(cast("Any", type(value)))
        # What does not count in comparisons, such as who pays for a request, is not part of what was asked.
        named = {field.name: getattr(value, field.name) for field in fields(value) if field.compare}
        return {"role": role, **named} if role else named
    if isinstance(value, frozenset):
        return sorted(cast("frozenset[str]", value))
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    raise TypeError(f"{type(value).__name__} cannot be recorded")
