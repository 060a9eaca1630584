"""Reads lists of results as engines write them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from ...parts.search_engine import Hit

_MARKUP = re.compile(r"</?(?:strong|em|b|i|mark)>", re.IGNORECASE)


def hits_in(entries: Any, text_key: str) -> Iterator[Hit]:
    """Each of ``entries`` that has a URL: ``{"title", "url", text_key}``."""
    for given in values(entries):
        url = member(given, "url")
        if isinstance(url, str) and url.startswith(("http://", "https://")):
            yield Hit(_plain(member(given, "title")), url, _plain(member(given, text_key)))


def member(value: Any, name: str) -> Any:
    """``value[name]``; ``None`` where there is none."""
    return cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None


def values(listed: Any) -> list[Any]:
    """The members of a list; none where it is no list."""
    return cast("Any", listed) if isinstance(listed, list) else []


def _plain(value: Any) -> str:
    """Text without the marks that engines put around words that were found."""
    return html.unescape(_MARKUP.sub("", value)) if isinstance(value, str) else ""
