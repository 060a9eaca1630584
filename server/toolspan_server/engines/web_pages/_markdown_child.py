"""A program: a line ``{"charset", "url", "is_html"}`` and the page's bytes on stdin; on stdout a line
``{"title"}`` and the page's text in UTF-8, as Markdown where it is HTML."""

from __future__ import annotations

import html
import json
import re
import sys
from typing import Any

_CPU_SECONDS = 20
_MEMORY_BYTES = 2 * 1024**3
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,1000})", re.IGNORECASE)


def converted(page: str, url: str) -> tuple[str, str]:
    """The title and the Markdown of ``page``: without scripts, styles, forms and embedded pictures."""
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

    options = ConversionOptions(
        extract_metadata=False,
        inline_data_media="alt_text_only",
        base_url=url or None,
        preprocessing=PreprocessingOptions(enabled=True, remove_navigation=False, remove_forms=True),
    )
    made: Any = convert(page, options)
    found = _TITLE.search(page[:200_000])
    title = " ".join(html.unescape(found[1]).split())[:300] if found else ""
    return title, str(made.content or "")


def _limit_resources() -> None:
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


def main() -> None:
    _limit_resources()
    asked = json.loads(sys.stdin.buffer.readline())
    page = sys.stdin.buffer.read().decode(asked["charset"], "replace")
    title, text = converted(page, asked["url"]) if asked["is_html"] else ("", page)
    head = json.dumps({"title": title}).encode()
    sys.stdout.buffer.write(head + b"\n" + text.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
