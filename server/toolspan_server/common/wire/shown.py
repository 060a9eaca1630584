"""A message of the wire as text for a person: without secrets, and of a length that can be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ..secrets.key_shapes import without_keys
from ..secrets.redaction import redactor_of
from .named_secrets import without_named_secrets
from .split_secrets import without_split_secrets
from .tap import WireMessage

MOST_CHARACTERS = 20_000
"""Of a body as many characters are shown."""

_MASK = "***"
_UNBROKEN = re.compile(r"[A-Za-z0-9+/_-]{400,}={0,2}")
_HEAD = 40
_SHORTEST = 4
_MOST_SECRETS = 200


class SecretsSeen:
    """The secrets that went over the wire in headers. The last ones are kept, each for as long as it may
    come back."""

    def __init__(self) -> None:
        self._values: dict[str, None] = {}

    def add(self, values: Iterable[str]) -> None:
        """Keep ``values``."""
        for value in values:
            if len(value) >= _SHORTEST:
                self._values.pop(value, None)
                self._values[value] = None
        for value in list(self._values)[:-_MOST_SECRETS]:
            del self._values[value]

    def redact(self, text: str) -> str:
        """``text`` without them."""
        return redactor_of(frozenset(self._values), _MASK)(text)


def shown(message: WireMessage, redact: Callable[[str], str]) -> tuple[str, str]:
    """The head and the body of ``message`` without secrets: those that ``redact`` and the message itself
    take out, what is called one, and what looks so. The body is cut after that."""

    def clean(text: str) -> str:
        text = without_named_secrets(redact(message.redact(text)))
        return without_keys(text, lambda _, __: _MASK)

    return clean(message.head), _body(message, clean)


def _body(message: WireMessage, clean: Callable[[str], str]) -> str:
    body = message.body
    if isinstance(body, bytes):
        try:
            body = body.decode()
        except UnicodeDecodeError:
            kind = f" of {message.kind}" if message.kind else ""
            return f"({len(body):,} bytes{kind} that are no text)"
    return _cut(_UNBROKEN.sub(_shortened, clean(without_split_secrets(body, clean))))


def _shortened(found: re.Match[str]) -> str:
    text = found.group()
    return f"{text[:_HEAD]}… ({len(text):,} characters without a break: Base64 or the like)"


def _cut(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    left = len(text) - MOST_CHARACTERS
    return f"{text[:MOST_CHARACTERS]}… ({left:,} more of {len(text):,} characters)"
