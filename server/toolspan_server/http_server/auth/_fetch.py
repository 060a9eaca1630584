"""Getting a JSON document of an authorization server, within bounds of time and size."""

from __future__ import annotations

import json
from typing import Any, cast

import anyio
import anyio.to_thread

from ._principal import KeysUnavailable

MOST_BYTES = 512 * 1024
MOST_S = 5.0


async def fetched(url: str) -> dict[str, Any]:
    """The JSON object at ``url``. Nothing is followed, no proxy is used. Raises ``KeysUnavailable``."""
    import_module = __import__
    await anyio.to_thread.run_sync(import_module, "httpx2")
    import httpx2

    from ...common.no_cookies import NoCookies

    try:
        with anyio.fail_after(MOST_S):
            async with (
                httpx2.AsyncClient(
                    trust_env=False, follow_redirects=False, timeout=MOST_S, cookies=NoCookies()
                ) as client,
                client.stream("GET", url, headers={"accept": "application/json"}) as response,
            ):
                return _object(url, response.status_code, await _body(url, response.aiter_bytes(65_536)))
    except TimeoutError:
        raise KeysUnavailable(f"{url} did not answer in {MOST_S:g} s") from None
    except httpx2.HTTPError as fault:
        raise KeysUnavailable(f"{url} cannot be reached: {type(fault).__name__}") from None


async def _body(url: str, parts: Any) -> bytes:
    body = bytearray()
    async for part in parts:
        body += part
        if len(body) > MOST_BYTES:
            raise KeysUnavailable(f"{url} answered with more than {MOST_BYTES:,} bytes")
    return bytes(body)


def _object(url: str, status: int, body: bytes) -> dict[str, Any]:
    if status != 200:
        raise KeysUnavailable(f"{url} answered with status {status}")
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise KeysUnavailable(f"{url} answered with no JSON object")
    return cast("dict[str, Any]", document)
