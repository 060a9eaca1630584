"""A page as text, made of the response that it came as."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...common.beside_loop import LARGE_BYTES
from ...errors import ToolFailure
from ..http_client import HttpResponse
from ..http_client._response import charset_of
from ._markdown import read_page

_HTML = ("text/html", "application/xhtml+xml")
_TEXTUAL = re.compile(
    r"text/.+|application/(.+\+)?(json|xml|yaml|javascript|toml)|application/x-ndjson|image/svg\+xml"
)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_SNIFFED = 1_024
_QUICK_CHARSETS = frozenset(("utf-8", "utf_8", "utf-8-sig", "ascii", "iso8859_1"))
"""Those that replace what they do not know in one pass; others call Python for each such byte."""


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
    is_html = media_type in _HTML
    if is_html or _TEXTUAL.fullmatch(media_type):
        body, charset = response.body, _charset(response)
        if not is_html and (charset in _QUICK_CHARSETS or len(body) < LARGE_BYTES):
            return Page(response.url, media_type, "", body.decode(charset, "replace"))
        title, text = await read_page(body, charset, response.url, is_html=is_html)
        return Page(response.url, media_type, title, text)
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


def _charset(response: HttpResponse) -> str:
    """The charset by the first bytes, header or ``<meta>``."""
    body, charset = response.body, response.charset
    if charset == "utf-8" and "charset" not in response.headers.get("content-type", "").lower():
        found = _META_CHARSET.search(body[:_SNIFFED])
        if found is not None:
            charset = charset_of(f"text/html; charset={found[1].decode()}")
    return charset
