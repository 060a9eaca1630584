"""A page as text, made of the response that it came as."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...errors import ToolFailure
from ..http_client import HttpResponse
from ..http_client._response import charset_of
from ._markdown import markdown_of

_HTML = ("text/html", "application/xhtml+xml")
_TEXTUAL = re.compile(
    r"text/.+|application/(.+\+)?(json|xml|yaml|javascript|toml)|application/x-ndjson|image/svg\+xml"
)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_SNIFFED = 1_024


@dataclass(frozen=True, slots=True)
class Page:
    """The page at ``url``, where redirects led: its ``text`` as Markdown, or as it is where it is no HTML."""

    url: str
    media_type: str
    title: str
    text: str


async def page_of(response: HttpResponse) -> Page:
    """The page in ``response``. Raises ``ToolFailure`` for what is no text."""
    media_type = response.media_type or _guessed(response.body)
    if media_type in _HTML:
        title, text = await markdown_of(_decoded(response), response.url)
        return Page(response.url, media_type, title, text)
    if _TEXTUAL.fullmatch(media_type):
        return Page(response.url, media_type, "", _decoded(response))
    raise ToolFailure(
        f"{response.url[:300]} is {media_type}, {len(response.body):,} bytes: only texts are read",
        error_code="not_text",
        user_action="Fetch another address.",
    )


def _guessed(body: bytes) -> str:
    start = body[:_SNIFFED].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "text/html"
    return "application/octet-stream" if b"\0" in start else "text/plain"


def _decoded(response: HttpResponse) -> str:
    """The body as text, in the charset of its first bytes, header or ``<meta>``; the rest is replaced."""
    body, charset = response.body, response.charset
    if charset == "utf-8" and "charset" not in response.headers.get("content-type", "").lower():
        found = _META_CHARSET.search(body[:_SNIFFED])
        if found is not None:
            charset = charset_of(f"text/html; charset={found[1].decode()}")
    return body.decode(charset, "replace")
