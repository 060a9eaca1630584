"""A program: a PDF on stdin; ``{"title", "pages": [[number, text], …]}`` or ``{"error"}`` on stdout."""

from __future__ import annotations

import io
import json
import logging
import sys
from typing import Any

PAGES = 2_000
CHARACTERS = 4_000_000
_CPU_SECONDS = 60
_MEMORY_BYTES = 2 * 1024**3


def text_of(data: bytes) -> dict[str, Any]:
    """The title and the text of the first ``PAGES`` pages, ``CHARACTERS`` characters in all at most."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return {"error": "an encrypted PDF"}
        pages: list[tuple[int, str]] = []
        left = CHARACTERS
        for number, page in enumerate(reader.pages[:PAGES], start=1):
            text = page.extract_text()[:left].encode("utf-8", "replace").decode()
            left -= len(text)
            pages.append((number, text))
            if left <= 0:
                break
        title = (reader.metadata.title if reader.metadata else None) or ""
        return {"title": title, "pages": pages}
    except DependencyError:
        return {"error": "an encrypted PDF"}
    except Exception as error:
        return {"error": f"a PDF that cannot be read ({type(error).__name__}: {str(error)[:200]})"}


def _limit_resources() -> None:
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


def main() -> None:
    logging.disable()
    _limit_resources()
    json.dump(text_of(sys.stdin.buffer.read()), sys.stdout)


if __name__ == "__main__":
    main()
