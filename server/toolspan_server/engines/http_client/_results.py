"""From an answer to a tool's result, or its failure."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from http import HTTPStatus
from typing import Any, Literal

import anyio.to_thread

from ...calls.content import Content
from ...common.json_size import MAX_VALUES_BESIDE, holds_more_values
from ...common.json_values import repaired
from ...errors import ToolFailure
from ._errors import bad_response
from ._jsonpath import ResponsePath
from ._response import HttpResponse
from ._secrets import Secrets

ResponseFormat = Literal["auto", "json", "text", "binary"]
_SNIPPET = 500
_EMPTY = frozenset((201, 202, 204, 205))
_PAGES = ("text/html", "application/xhtml+xml")
_PAGE = re.compile(rb"\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_MARKUP = re.compile(r"<(?:script|style)\b.*?(?:</(?:script|style)>|\Z)|<[^>]*>?", re.IGNORECASE | re.DOTALL)
_QUICK = 65_536
_TEXTS = ("xml", "javascript", "yaml", "csv", "x-www-form-urlencoded", "graphql", "toml", "sql")
_ACTIONS = {
    400: "Correct the arguments and call the tool again.",
    401: "Check the credentials under auth in the tool's config.",
    403: "Check what the credentials in the tool's config allow.",
    404: "Check the arguments: what they name is not there.",
    409: "What is there has changed meanwhile; look again before the next call.",
    422: "Correct the arguments and call the tool again.",
    429: "Wait a while before the next call.",
}
_LATER = "Try again later; if it keeps failing, inform the operator of the API."


@dataclass(frozen=True)
class Reader:
    """How a tool's answers become results. ``hints``: advice for the model by ``404`` or ``4xx``.

    ``types`` are globs of the media types that are taken, any but pages of HTML by default; ``success`` the
    statuses, or sorts of them, of an answer that is one. ``may_be_empty`` says that one without a body is a
    result whatever its status.
    """

    secrets: Secrets
    format: ResponseFormat = "auto"
    path: ResponsePath | None = None
    hints: Mapping[str, str] = field(default_factory=dict[str, str])
    types: tuple[str, ...] = ()
    success: tuple[str, ...] = ("2xx",)
    may_be_empty: bool = False

    async def result(self, answer: HttpResponse, method: str = "GET") -> Any:
        """A JSON value, or ``Content`` for what is none. Raises ``ToolFailure``."""
        if not {str(answer.status), f"{answer.status // 100}xx"} & set(self.success):
            raise self._refused(answer)
        if not answer.body and self.format not in ("text", "binary"):
            return self._nothing(answer, method)
        if answer.body and not self._takes(answer):
            raise self._wrong_type(answer)
        work = partial(self._read, answer)
        quick = len(answer.body) <= _QUICK and (self.path is None or self.path.singular)
        return work() if quick else await anyio.to_thread.run_sync(work, abandon_on_cancel=True)

    def _read(self, answer: HttpResponse) -> Any:
        kind = answer.media_type
        if self.path is not None or self.format == "json" or (self.format == "auto" and _is_json(kind)):
            data = _parsed(answer, self.secrets)
            return self.secrets.redact_all(data if self.path is None else self.path.of(data))
        if self.format == "text" or (self.format == "auto" and _is_text(kind)):
            return self.secrets.redact(repaired(_text(answer)))
        return _binary(answer, kind, self.secrets)

    def _nothing(self, answer: HttpResponse, method: str) -> None:
        """An empty answer is a result where its status says so, or where no content was expected."""
        wanted = method == "GET" or self.format == "json" or self.path is not None
        if wanted and answer.status not in _EMPTY and not self.may_be_empty:
            what = f"{answer.host} answered HTTP {_named(answer.status)} with an empty body"
            hint = "where that is a result, set allow_empty in the tool's config"
            raise bad_response(f"{what} ({hint})", answer.status)

    def _takes(self, answer: HttpResponse) -> bool:
        kind = answer.media_type
        if self.types:
            return any(fnmatchcase(kind, pattern.lower()) for pattern in self.types)
        if self.format in ("text", "binary"):
            return True
        return kind not in _PAGES and not (kind in ("", "text/plain") and _PAGE.match(answer.body[:_SNIPPET]))

    def _wrong_type(self, answer: HttpResponse) -> ToolFailure:
        kind = answer.media_type or "no media type"
        wanted = f"not {', '.join(self.types)}" if self.types else "a page for people"
        excerpt = snippet(answer, self.secrets)
        hint = "where that is meant, set response_types in the tool's config"
        return bad_response(
            f"{answer.host} answered HTTP {_named(answer.status)} with {kind}, {wanted} ({hint}): {excerpt}",
            answer.status,
        )

    def _refused(self, answer: HttpResponse) -> ToolFailure:
        status = answer.status
        hint = self.hints.get(str(status)) or self.hints.get(f"{status // 100}xx")
        action = hint or _ACTIONS.get(status) or (_LATER if status >= 500 or status == 408 else None)
        excerpt = snippet(answer, self.secrets)
        kind = f" with {answer.media_type}" if answer.media_type in _PAGES else ""
        return ToolFailure(
            f"{answer.host} answered HTTP {_named(status)}{kind}" + (f": {excerpt}" if excerpt else ""),
            error_code=f"http_{status}",
            user_action=action or "Check the arguments and the tool's config.",
            upstream_status=status,
        )


def _named(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def snippet(answer: HttpResponse, secrets: Secrets) -> str:
    """The start of the body in one line, without secrets; empty when it is no text."""
    if not (_is_json(answer.media_type) or _is_text(answer.media_type)):
        return ""
    start = repaired(answer.start(_SNIPPET * 8))
    if answer.media_type in _PAGES:
        start = _MARKUP.sub(" ", start)
    line = " ".join(secrets.redact(start).split())
    start = "".join(letter if letter.isprintable() else "�" for letter in line[:_SNIPPET])
    return start if len(line) <= _SNIPPET else f"{start}…"


def _is_json(kind: str) -> bool:
    return kind in ("application/json", "text/json") or kind.endswith("+json")


def _is_text(kind: str) -> bool:
    return not kind or kind.startswith("text/") or kind.endswith(_TEXTS)


def _parsed(answer: HttpResponse, secrets: Secrets) -> Any:
    text = _text(answer)
    if holds_more_values(text, MAX_VALUES_BESIDE):
        what = f"JSON of more than {MAX_VALUES_BESIDE:,} values"
        raise bad_response(f"{answer.host} answered {what}, too many to read", answer.status)
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        excerpt = snippet(answer, secrets)
        what = f"HTTP {_named(answer.status)} with {answer.media_type or 'no media type'}"
        raise bad_response(
            f"{answer.host} answered {what} that is not JSON: {excerpt}", answer.status
        ) from None


def _text(answer: HttpResponse) -> str:
    try:
        return answer.text()
    except UnicodeError:
        what = f"HTTP {_named(answer.status)} with {answer.media_type or 'no media type'}"
        hint = "for its bytes as they are, set response_format: binary"
        raise bad_response(
            f"{answer.host} answered {what} that is no {answer.charset} ({hint})", answer.status
        ) from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _binary(answer: HttpResponse, kind: str, secrets: Secrets) -> Content:
    data = b64encode(answer.body).decode()
    family = kind.partition("/")[0]
    if family in ("image", "audio"):
        return Content(({"type": family, "data": data, "mimeType": kind},))
    resource = {
        "uri": secrets.redact(answer.url),
        "mimeType": kind or "application/octet-stream",
        "blob": data,
    }
    return Content(({"type": "resource", "resource": resource},))
