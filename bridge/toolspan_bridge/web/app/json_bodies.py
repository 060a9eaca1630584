"""JSON bodies of requests, within limits."""

from __future__ import annotations

from starlette.requests import ClientDisconnect, Request

from ..json_requests import RequestJson, UnusableJson, read_beside
from ..problems import Problem

_NOT_JSON = "Content-Type must be application/json"


async def read_json(request: Request, most: int) -> tuple[bytes, RequestJson]:
    """The body as it came and as a value: one JSON document of at most ``most`` bytes, as
    ``parse_request_json`` takes it. Keys that come twice are refused. Raises ``Problem``.
    """
    if not is_json(request.headers.get("content-type", "")):
        raise Problem(415, _NOT_JSON)
    raw = await read_body(request, most)
    if not raw:
        raise Problem(400, "the body is empty: it must be a JSON document")
    return raw, await parsed(raw)


def is_json(content_type: str) -> bool:
    """Whether a media type is that of JSON."""
    return content_type.partition(";")[0].strip().lower() == "application/json"


async def read_body(request: Request, most: int) -> bytes:
    """The body, of which no more than ``most`` bytes are kept. Raises ``Problem``."""
    found = bytearray()
    try:
        async for chunk in request.stream():
            found += chunk
            if len(found) > most:
                raise Problem(413, f"a body is at most {most:,} bytes (limits.message_bytes)")
    except ClientDisconnect:
        raise Problem(400, "the body is not whole") from None
    return bytes(found)


async def parsed(raw: bytes) -> RequestJson:
    """The value of a JSON document, in which no key comes twice. Raises ``Problem``."""
    try:
        return await read_beside(raw, unique=True)
    except UnusableJson as error:
        raise Problem(400, f"the body {error}") from None
