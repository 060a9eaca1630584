"""A provider's error answer: its message, and whether and when to retry."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolspan_server.common.retry_waits import seconds_until

from ..contract import WireError
from ..json_values import (
    as_list,
    as_object,
    at,
    clean,
    compact,
    count,
    load,
    snippet,
    text,
)

_RETRYABLE = frozenset({408, 409, 425, 429, 498})
"""498 is Groq's word for a tier that is full."""
_SAYING = (
    "message",
    "msg",
    "detail",
    "error_msg",
    "error_message",
    "errormessage",
    "err_msg",
    "errmsg",
    "errors",
    "faultstring",
    "reason",
)
_STATUSES = ("status", "status_code", "statuscode", "http_code")
_OF_ANSWERS = ("choices", "candidates", "output", "content", "delta", "parts", "response", "data")
_KIND_WORDS = {
    400: "badrequest badrequesterror contextlengthexceeded invalidargument invalidprompt invalidrequest "
    "invalidrequesterror toolusefailed unprocessableentityerror validationerror "
    "validationexception",
    401: "authenticationerror invalidapikey unauthenticated unauthorized",
    402: "billingerror insufficientbalance",
    403: "accessdenied accessdeniedexception forbidden permissiondenied permissiondeniederror "
    "permissionerror",
    404: "modelnotfound notfound notfounderror resourcenotfoundexception",
    408: "modeltimeoutexception requesttimeout",
    413: "requesttoolarge",
    429: "engineoverloadederror exceededcurrentquotaerror insufficientquota ratelimit ratelimiterror "
    "ratelimitexceeded ratelimitreachederror resourceexhausted slowdown throttling throttlingexception "
    "toomanyrequests toomanyrequestserror",
    503: "modelnotreadyexception overloaded serverisoverloaded serveroverloaded serviceunavailable "
    "serviceunavailableerror serviceunavailableexception unavailable",
    504: "deadlineexceeded gatewaytimeout timeouterror",
    529: "overloadederror",
}
_KINDS = {word: status for status, words in _KIND_WORDS.items() for word in words.split()}
"""What kinds of errors say, in the words of OpenAI, Anthropic, Google, AWS, Moonshot and others."""
_LIMITS = re.compile(r"(?:x-|anthropic-)?ratelimit(?:-[a-z-]{1,60})?$")
_MOST_LIMITS = 40
_MOST_BYTES = 65_536
"""Longer error answers, and messages in events, are not read: they are read on the event loop."""
_MINIMAX = {
    **dict.fromkeys((1002, 1039, 2045, 2056), 429),
    **dict.fromkeys((1004, 2049), 401),
    **dict.fromkeys((1026, 1027, 2013), 400),
    1001: 504,
    1008: 402,
}


def error_body(body: bytes) -> dict[str, Any]:
    """The JSON object of an error answer, also when it is in a list of one; empty when there is none, or the
    answer is longer than one that people could read."""
    try:
        value = load(body) if len(body) <= _MOST_BYTES else None
    except ValueError:
        return {}
    listed = as_list(value)
    value = listed[0] if listed else value
    return as_object(clean(value)) or {}


def wire_error(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    kind: str,
    message: str,
    final: bool = False,
    retryable: bool = False,
    retry_after: float | None = None,
    tool: str | int | None = None,
    codes: Sequence[str] = (),
    param: str = "",
) -> WireError:
    """The parsed error. ``final`` and ``retryable`` take precedence over the status.

    ``codes`` are the provider's words beside ``kind``, ``param`` is the place in the request that it names.
    An error that the same request would meet again is never retryable.
    """
    from ..faults import find_fault  # its patterns take long to compile, and few answers are errors

    lower = {name.lower(): value for name, value in headers.items()}
    reported = message[:_MOST_BYTES].strip() or snippet(body) or f"HTTP status {status} without a message"
    found = find_fault(status, (kind, *codes), reported, param=param, names_tool=tool is not None)
    final = final or found.fault != "other"
    again = (retryable or status in _RETRYABLE or status >= 500) and not final
    asked = lower.get("x-should-retry", "").strip().lower()
    if asked in ("true", "false") and not final:
        again = asked == "true"
    after = _retry_after(lower)
    return WireError(
        status,
        kind,
        reported,
        again,
        retry_after if after is None else after,
        tool,
        found.fault,
        found.parameter,
        found.lengths.counted,
        found.lengths.most,
        found.lengths.answer,
        _limits(lower),
    )


def error_in_answer(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """The error that ``body``, which came with HTTP 200, is or holds, in whatever shape servers write it;
    ``None`` where it is none.

    ``error`` as an object or a text; ``{"object": "error", "message"}`` (vLLM, Mistral); ``base_resp`` with a
    status that is not 0 (MiniMax); one in a wrapper of a cloud's front door; and an object that has words
    about a fault (``message``, ``detail``, …), in letters of either case, and nothing of an answer (FastAPI,
    DashScope, Baidu, AWS, RFC 9457 and others).
    """
    if (wrapped := _wrapped(body)) is not None:
        return wrapped
    inner = body.get("error")
    if inner:
        said = _words(body)
        words = (text(inner) or compact(inner), said.get("message"))
        return as_object(inner) or {**said, "message": ": ".join(dict.fromkeys(filter(None, words)))}
    base = body.get("base_resp")
    if base and (code := at(base, "status_code")):
        return {"code": code, "message": text(at(base, "status_msg")) or compact(base), **_of_minimax(code)}
    kind = text(body.get("type"))
    if body.get("object") == "error" or "error" in kind.lower() or "exception" in kind.lower():
        return _words(body) or None
    if any(body.get(key) for key in _OF_ANSWERS) or as_object(body.get("message")) is not None:
        return None
    failed = any(_number_in(value) >= 400 for key, value in body.items() if key.lower() in _STATUSES)
    if failed:
        return _words(body) or _words({**body, "message": body.get("title")}) or None
    return (_words(body) or None) if not kind or "code" in body else None


def _wrapped(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """The error in ``body`` where it stands one level deeper, under no name of an answer's."""
    for way in (("Error",), ("Response", "Error"), ("ResponseMetadata", "Error"), ("Output",), ("fault",)):
        if (inner := as_object(at(body, *way))) is not None and (said := _words(inner)):
            return said  # Tencent, Volcengine, AWS, Apigee
    header = as_object(body.get("header")) or {}
    return (_words(header) or None) if header.get("code") else None  # Spark


def error_for_answer(error: Mapping[str, Any]) -> WireError:
    """An error of ``error_in_answer``, by the status that it names, if any."""
    status = named_status(error)
    kinds = (error.get(key) for key in ("type", "status", "code"))
    kind = next((word for each in kinds if (word := text(each))), "")
    message = f"the answer is an error: {text(error.get('message')) or snippet(compact(error))}"
    return wire_error(status, {}, b"", kind=kind, message=message)


def named_status(error: Mapping[str, Any]) -> int:
    """The status of HTTP that ``error`` names, as a number or by the word for its kind; 500 without."""
    places = ("status_code", "http_code", "statuscode", "code", "status")
    given = (_number_in(error.get(key)) for key in places)
    number = next((code for code in given if 400 <= code < 600), None)
    words = (text(error.get(key)).lower().replace("_", "") for key in ("code", "type", "status"))
    named = next((_KINDS[word] for word in words if word in _KINDS), 500)
    return named if number is None else number


def _words(body: Mapping[str, Any]) -> dict[str, Any]:
    """What ``body`` says of a fault: its message under that name, and its codes; empty where it says
    nothing."""
    body = {key.lower(): value for key, value in body.items()}
    said = next((body[key] for key in _SAYING if body.get(key) and as_object(body[key]) is None), None)
    if said is None:
        return {}
    codes = {key: body[key] for key in ("code", "type", *_STATUSES) if key in body}
    number = next((body[key] for key in ("error_code", "err_code", "errno") if key in body), None)
    shown = said if isinstance(said, str) else _listed(said)
    return {**({} if number is None else {"code": number}), **codes, "message": shown}


def _listed(said: Any) -> str:
    """The words of a list of faults, each with a message of its own."""
    words = [text(at(each, "message")) for each in as_list(said) or ()]
    return "; ".join(words) if words and all(words) else compact(said)


def _of_minimax(code: Any) -> dict[str, Any]:
    """The HTTP status that stands for a status code of MiniMax's API (its page on error codes)."""
    return {"status_code": _MINIMAX.get(code, 500) if isinstance(code, int) else 500}


def _number_in(value: Any) -> int:
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 6 else count(value)


def seconds(value: Any) -> float | None:
    """A protobuf duration such as ``1.5s``."""
    written = text(value)
    return _number(written[:-1]) if written.endswith("s") else None


def _limits(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that say how much may be asked, and when again."""
    named = ((name, value.strip()) for name, value in headers.items() if _LIMITS.match(name))
    told = {
        name: value for name, value in named if value.isascii() and value.isprintable() and len(value) < 200
    }
    return dict(list(told.items())[:_MOST_LIMITS])


def _retry_after(headers: Mapping[str, str]) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "").strip()
    number = _number(value)
    return number if number is not None or not value else seconds_until(value, headers.get("date", ""))


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None
