"""The edge for JSON that clients send: what ``parse_request_json`` lets in can be kept and sent on.

Every body of the API and of the gateway is read here. Refused are: what is not UTF-8, NaN and numbers beyond
a double, integers of more than 4,000 digits, half a surrogate pair, more than 64 levels, and more than
100,000 values, as in messages of MCP. Integers that only pass through, in a schema or in arguments, may be
wider than 64 bits; those that are acted on are read by ``Fields.whole`` and by models that bound them.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, NewType, cast

from toolspan_server.common.beside_loop import run_beside
from toolspan_server.common.json_size import MAX_VALUES, holds_more_values
from toolspan_server.common.json_values import MAX_DEPTH, MAX_DIGITS

__all__ = ["MAX_VALUES", "RequestJson", "UnusableJson", "parse_request_json", "read_beside"]

_LONE = re.compile(rb"\\u[dD][89a-fA-F]")

RequestJson = NewType("RequestJson", object)
"""The value of a body that was read at this edge."""


class UnusableJson(ValueError):
    """The body cannot be used; the message follows ``the body``."""


async def read_beside(raw: bytes, *, unique: bool = False) -> RequestJson:
    """``parse_request_json`` of ``raw``, beside the event loop where it is long."""
    return await run_beside(len(raw), lambda: parse_request_json(raw, unique=unique))


def parse_request_json(raw: bytes, *, unique: bool = False) -> RequestJson:
    """The value of ``raw``. ``unique``: a key that comes twice in an object is refused. Raises
    ``UnusableJson``."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise UnusableJson(f"is not UTF-8 (byte {error.start})") from None
    if holds_more_values(raw, MAX_VALUES):
        raise UnusableJson(f"holds more than {MAX_VALUES:,} values")
    pairs = _unique if unique else None
    try:
        value = json.loads(
            text,
            object_pairs_hook=pairs,
            parse_constant=_refuse_constant,
            parse_int=_integer if len(raw) > MAX_DIGITS else None,
            parse_float=_finite,
        )
    except RecursionError:
        raise _too_deep() from None
    except UnusableJson:
        raise
    except ValueError as error:
        raise UnusableJson(f"is no JSON: {str(error)[:200]}") from None
    _check(value, deep=raw.count(b"{") + raw.count(b"[") > MAX_DEPTH, escapes=_LONE.search(raw) is not None)
    return RequestJson(value)


def _check(value: Any, *, deep: bool, escapes: bool) -> None:
    """Refuse what is too ``deep``, and half surrogates, which only ``escapes`` can be."""
    if not (deep or escapes):
        return
    level, depth = [value], 0
    while level:
        depth += 1
        inner: list[Any] = []
        for each in level:
            if isinstance(each, str):
                if escapes:
                    _check_text(each)
            elif isinstance(each, dict):
                members = cast("dict[str, Any]", each)
                if escapes:
                    for key in members:
                        _check_text(key)
                inner.extend(members.values())
            elif isinstance(each, list):
                inner.extend(cast("Any", each))
        level = inner
        if depth > MAX_DEPTH and any(isinstance(each, dict | list) for each in level):
            raise _too_deep()


def _check_text(text: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UnusableJson("has a lone surrogate, which is no Unicode character") from None


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise UnusableJson(f"has an integer of more than {MAX_DIGITS:,} digits")
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise UnusableJson("has a number that is too large")
    return value


def _refuse_constant(name: str) -> Any:
    raise UnusableJson(f"has {name}, which is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise UnusableJson(f"has the key {twice[:80]!a} twice in one object")
    return found


def _too_deep() -> UnusableJson:
    return UnusableJson(f"is nested more than {MAX_DEPTH} levels deep")
