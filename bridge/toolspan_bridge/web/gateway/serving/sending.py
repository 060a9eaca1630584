"""What comes and goes over HTTP: the body of a request, JSON answers, and their headers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...json_requests import RequestJson, UnusableJson, read_beside
from ..faults import RequestFault
from .cached import CACHE_HEADER
from .running import Run

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Message, Send

__all__ = ["MOST_BODY_BYTES", "body_of", "headers_of", "headers_of_fault", "send_head", "send_json"]

MOST_BODY_BYTES = 64 * 1024 * 1024
"""The largest body of a request, which may hold images; ``limits.message_bytes`` may allow less."""
_MOST_WARNING = 1_000


async def body_of(request: Request) -> tuple[RequestJson, int]:
    """The JSON of a request, and its size. Raises ``RequestFault`` where there is none, or too much."""
    from starlette.requests import ClientDisconnect

    size, chunks = 0, list[bytes]()
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > MOST_BODY_BYTES:
                raise RequestFault(f"the body is larger than {MOST_BODY_BYTES:,} bytes", status=413)
            chunks.append(chunk)
    except ClientDisconnect:
        raise RequestFault("the body is not whole") from None
    try:
        return await read_beside(b"".join(chunks)), size
    except UnusableJson as error:
        raise RequestFault(f"the body {error}", code="invalid_json") from None


def headers_of(run: Run, warnings: tuple[str, ...] = ()) -> dict[str, str]:
    """Which request it was, who answered, whether the answer was kept, which deployments were asked until
    now, and what of the request had no effect."""
    known = {
        "x-request-id": run.begun.id,
        "request-id": run.begun.id,
        "x-toolspan-model": _plain(run.begun.model),
    }
    known |= {CACHE_HEADER: run.cache} if run.cache else {}
    tried = ", ".join(f"{each.deployment} {each.outcome}" for each in run.watch.tried)
    known |= {"x-toolspan-deployments": _plain(tried)} if tried else {}
    told = " | ".join(dict.fromkeys((*run.warnings, *run.watch.left_out, *warnings)))
    return known | ({"x-toolspan-warning": _plain(told)} if told else {})


def headers_of_fault(fault: RequestFault) -> dict[str, str]:
    """When to come again, in whole seconds (RFC 9110, 10.2.3), whether to come again at all, by the header
    that the clients of OpenAI and Anthropic obey, and what the provider says of its limits."""
    after, again = fault.retry_after, fault.retryable
    return {
        **fault.limits,
        **({} if after is None else {"retry-after": str(max(0, math.ceil(after)))}),
        **({} if again is None else {"x-should-retry": str(again).lower()}),
    }


def _plain(text: str) -> str:
    """``text`` as a header has it: printable ASCII, and not too much of it."""
    shown = text.encode("ascii", "backslashreplace").decode("ascii")[:_MOST_WARNING]
    return shown if shown.isprintable() else "".join(each if each.isprintable() else " " for each in shown)


async def send_json(
    send: Send, body: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> None:
    """Answer with ``body`` as JSON."""
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    head = {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})}
    await send_head(send, status, head)
    await send({"type": "http.response.body", "body": data, "more_body": False})


async def send_head(send: Send, status: int, headers: Mapping[str, str]) -> None:
    """Begin an answer."""
    head: Message = {
        "type": "http.response.start",
        "status": status,
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
    }
    await send(head)
