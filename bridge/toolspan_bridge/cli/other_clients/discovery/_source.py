"""A registry entry's text: of a file, or from a URL, by the client that refuses private addresses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ....errors import UnreachableError, UsageError

MOST_BYTES = 1_048_576
"""The largest registry entry that is read, in bytes."""

TIMEOUT_MS = 30_000


async def registry_document(place: str, *, allow_private: bool = False) -> Any:
    """The JSON at ``place``, a file or an http or https URL; only with ``allow_private`` at one whose address
    is private. Raises ``UsageError`` and ``UnreachableError``."""
    is_url = re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", place) is not None
    text = await _fetched(place, allow_private=allow_private) if is_url else _read(Path(place))
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise UsageError(f"{place} is not JSON: {fault}") from None


def _read(path: Path) -> str:
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is no file")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as fault:
        raise UsageError(f"{path} cannot be read: {fault.strerror}") from None
    if len(data) > MOST_BYTES:
        raise UsageError(f"{path} has more than {MOST_BYTES:,} bytes: no registry entry is that large")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise UsageError(f"{path} is no UTF-8 text (byte {fault.start})") from None


async def _fetched(url: str, *, allow_private: bool) -> str:
    from toolspan_server.engines.http_client import (
        Hosts,
        HttpClient,
        Policy,
        Request,
        url_problem,
    )
    from toolspan_server.errors import ToolFailure

    if (problem := url_problem(url)) is not None:
        raise UsageError(f"{url} {problem}")
    hosts = Hosts(private=(urlsplit(url).hostname or "",) if allow_private else ())
    client = HttpClient()
    try:
        request = Request("GET", url, (("Accept", "application/json"), ("User-Agent", "toolspan")))
        answer = await client.send(request, Policy(hosts, timeout_ms=TIMEOUT_MS, max_bytes=MOST_BYTES))
    except ToolFailure as failure:
        hint = " (--allow-private, if it is meant)" if failure.error_code == "blocked_address" else ""
        raise UnreachableError(f"{url}: {failure}{hint}") from None
    finally:
        await client.aclose()
    if answer.status != 200:
        raise UnreachableError(f"{url} answered with HTTP {answer.status}")
    try:
        return answer.text()
    except UnicodeError:
        raise UsageError(f"{url} answered with what is no text") from None
