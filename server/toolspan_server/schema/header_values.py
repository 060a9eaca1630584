"""What keeps a text from being the value of an HTTP header, in words that repeat nothing of it."""

from __future__ import annotations

import re

__all__ = ["REMEDY", "unsendable"]

REMEDY = "remove it, also from the variables that the value is made of"
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def unsendable(value: str) -> str | None:
    """What ``value`` holds that no header can hold; ``None`` where it can be sent (RFC 9110, section 5.5)."""
    if _CONTROL.search(value):
        return "a control character, such as a line break"
    return None if value.isascii() else "a character that no header can hold: only ASCII can be sent"
