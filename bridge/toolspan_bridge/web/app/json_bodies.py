"""JSON bodies of requests, within limits."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

from starlette.requests import ClientDisconnect, Request

from ..problems import Problem

MOST_DEPTH = 64
_NOT_JSON = "Content-Type must be application/json"


async def read_json(request: Request, most: int) -> tuple[bytes, Any]:
    """The body as it came and as a value: one JSON document of at most ``most`` bytes and 64 levels.

    NaN, infinities, lone surrogates and keys that come twice are refused. Raises ``Problem``.
    """
    if not is_json(request.headers.get("content-type", "")):
        raise Problem(415, _NOT_JSON)
    raw = await read_body(request, most)
    if not raw:
        raise Problem(400, "the body is empty: it must be a JSON document")
    return raw, parsed(raw)


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


def parsed(raw: bytes) -> Any:
    """The value of a JSON document. Raises ``Problem``."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise Problem(400, f"the body is not UTF-8 (byte {error.start})") from None
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise Problem(400, f"the body is no JSON: {error}") from None
    _check(value)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice[:80]!a} is there twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _too_deep() -> Problem:
    return Problem(400, f"the body is nested more than {MOST_DEPTH} levels deep")


def _check(value: Any) -> None:
    """Refuse what is too deep, and what JSON of others could not hold."""
    left: list[tuple[Any, int]] = [(value, 1)]
    while left:
        each, depth = left.pop()
        if isinstance(each, str):
            _check_text(each)
        elif isinstance(each, float):
            if not math.isfinite(each):
                raise Problem(400, "the body has a number that is too large")
        elif isinstance(each, dict | list):
            if depth > MOST_DEPTH:
                raise _too_deep()
            if isinstance(each, dict):
                for key in each:  # pyright: ignore[reportUnknownVariableType]  # any JSON
                    _check_text(key)  # pyright: ignore[reportUnknownArgumentType]  # keys of JSON are texts
            inner = each.values() if isinstance(each, dict) else each  # pyright: ignore[reportUnknownVariableType]  # any JSON
            left.extend((one, depth + 1) for one in inner)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # any JSON


def _check_text(text: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Problem(400, "the body has a lone surrogate, which is no Unicode character") from None
