"""What reads a request's conversation back from its wire, in no provider's words.

How each format writes it is in ``tests.support.wires``; here is what they share.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

Said = tuple[Any, ...]
_MARK = re.compile(r"\[tool error\]\s*")


def read_request(name: str, body: Any) -> list[Said]:
    """The conversation in ``body``, a request in the format ``name``."""
    return list(import_module(f"tests.support.wires.{name.replace('-', '_')}").conversation(body))


def marked(text: str) -> Said:
    """A result where the wire has no flag for errors: they are marked in the text."""
    return ("result", bool(_MARK.match(text)), without_mark(text))


def without_mark(text: str) -> str:
    """A result's text without the mark of an error."""
    return _MARK.sub("", text, count=1)


def texts(content: Any) -> str:
    """The text of a message's content: one string, or parts of which some have a text."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if "text" in part)
