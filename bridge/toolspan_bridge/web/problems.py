"""Errors of the API as problem details (RFC 9457)."""

from __future__ import annotations

import errno
import math
import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from ..errors import StoreError

if TYPE_CHECKING:
    from pydantic import ValidationError
    from starlette.responses import Response

    from ..errors import BridgeError

MEDIA_TYPE = "application/problem+json"
TITLES = {
    400: "The request cannot be read",
    401: "A bearer token is needed",
    403: "This is not allowed",
    404: "There is no such thing",
    405: "The method is not allowed here",
    406: "None of the accepted media types can be given",
    408: "The request came too slowly",
    409: "The request does not fit the state of things",
    412: "What was to be changed has changed",
    413: "The request is too large",
    415: "The body must be JSON",
    421: "This server does not serve that host",
    422: "The request has invalid values",
    429: "Too many requests",
    431: "The head of the request is too large",
    500: "Something went wrong in the server",
    502: "Another server failed",
    503: "The server cannot answer now",
    504: "Another server did not answer",
    507: "There is no room on the disk",
}
_CODES = {
    400: "malformed",
    401: "token_needed",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    408: "too_slow",
    409: "conflict",
    412: "changed",
    413: "too_large",
    415: "not_json",
    421: "wrong_host",
    422: "invalid",
    429: "too_many_requests",
    431: "head_too_large",
    500: "internal",
    503: "unavailable",
}
_OF_ERRORS = {
    "usage": 422,
    "consent": 403,
    "auth": 502,
    "unreachable": 502,
    "no_tools": 409,
    "unvalidated": 409,
    "unknown_model": 404,
    "busy": 503,
    "store": 500,
    "context_overflow": 422,
}
"""The statuses of our own errors by their code; a provider's that is none of these is 502."""


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_OF_SQLITE = {sqlite3.SQLITE_FULL: 507, sqlite3.SQLITE_BUSY: 503, sqlite3.SQLITE_LOCKED: 503}
_MOST_CAUSES = 10


class FieldProblem(BaseModel):
    """What is wrong with one value of the request."""

    pointer: str = Field(description="A JSON pointer into the body, or ?NAME for a parameter of the query.")
    detail: str


class ProblemDetails(BaseModel):
    """Why a request failed (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str = Field("about:blank", description="about:blank, or urn:toolspan:error:CODE.")
    title: str
    status: int
    detail: str
    code: str = Field(description="Which error it is, for programs.")
    errors: list[FieldProblem] | None = None


class Problem(Exception):
    """Raised by a handler to answer with a problem of ``status``: ``detail`` says what is wrong and what to
    do.

    ``code`` is by default that of the status. ``errors`` are the wrong values, ``more`` are further members.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        code: str | None = None,
        *,
        errors: Sequence[FieldProblem] = (),
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.code = code or _CODES.get(status, "error")
        self.errors = tuple(errors)
        self.headers = dict(headers or {})
        self.more = dict(more or {})

    def as_dict(self) -> dict[str, Any]:
        """The problem as JSON."""
        own = self.code != _CODES.get(self.status)
        found: dict[str, Any] = {
            "type": f"urn:toolspan:error:{self.code}" if own else "about:blank",
            "title": TITLES.get(self.status, "The request failed"),
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        if self.errors:
            found["errors"] = [each.model_dump() for each in self.errors]
        return found | self.more

    def response(self) -> Response:
        """The answer to the request."""
        from starlette.responses import Response

        return Response(encoded(self.as_dict()), self.status, self.headers, MEDIA_TYPE)


def problem_of(error: BridgeError) -> Problem:
    """The problem that one of our own errors is."""
    status = _OF_ERRORS.get(error.code, 502)
    if isinstance(error, StoreError) and status == 500:
        status = _of_store(error)
    more = {"variables": list(error.variables)} if error.variables else None
    return Problem(status, error.message, error.code, more=more)


def _of_store(error: StoreError) -> int:
    """507 where the disk is full, 503 where another process is in the way, else 500."""
    cause: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        cause = None if cause is None else cause.__cause__ or cause.__context__
        if isinstance(cause, TimeoutError):
            return 503
        if isinstance(cause, OSError) and cause.errno in _FULL:
            return 507
        code = getattr(cause, "sqlite_errorcode", None)
        if code is not None:
            return _OF_SQLITE.get(code & 0xFF, 500)
    return 500


def problem_of_values(error: ValidationError, prefix: str = "/") -> Problem:
    """The problem that values which do not fit their model are; with ``?``, those of the query."""
    errors = [
        FieldProblem(pointer=_pointer(each["loc"], prefix), detail=each["msg"])
        for each in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    first = errors[0]
    where = f"{first.pointer}: " if first.pointer else ""
    more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
    return Problem(422, f"{where}{first.detail}{more}", errors=errors[:100])


def encoded(value: Any) -> bytes:
    r"""``value`` as JSON in UTF-8. A lone surrogate, which UTF-8 cannot hold, is written as ``\udXXX``."""
    try:
        return to_json(value, inf_nan_mode="null")
    except ValueError:
        import json

        return json.dumps(_finite(value), ensure_ascii=True).encode()


def _finite(value: Any) -> Any:
    from toolspan_server.common.json_values import repaired

    if isinstance(value, BaseModel):
        value = value.model_dump()
    if isinstance(value, str):
        return repaired(value)
    if isinstance(value, Mapping):
        return {repaired(str(key)): _finite(each) for key, each in value.items()}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # any JSON
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]  # pyright: ignore[reportUnknownVariableType]  # any JSON
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _pointer(location: tuple[int | str, ...], prefix: str) -> str:
    parts = [str(part).replace("~", "~0").replace("/", "~1") for part in location]
    if prefix == "?":
        return "?" + "/".join(parts)
    return "".join(f"/{part}" for part in parts)
