"""Takes out of texts what is called a secret there: in JSON, in forms and URLs, in lines of headers."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CALLED = (
    r"[\w.-]{0,40}?(?:api[_-]?key|access[_-]?key|secret|password|passwd|passphrase|authorization|cookie"
    r"|credentials?|private[_-]?key|bearer|jwt|assertion|code[_-]verifier|device[_-]code"
    r"|(?:access|refresh|id|auth|session|device|bot|security)[_-]?token)(?:[_-][\w.-]{0,40})?|token|pwd"
)
_IN_JSON = re.compile(
    rf'(?P<quote>\\{{0,15}}")(?:{_CALLED})(?P=quote)\s{{0,20}}:\s{{0,20}}(?P=quote)', re.IGNORECASE
)
_QUOTE_OR_LINE_END = re.compile(r'(?<!\\)(?P<escapes>\\*)"|\n')
_IN_FORM = re.compile(
    rf"(?P<before>(?<![\w.-])(?:{_CALLED})=|[?&](?:key|sig|signature|code|session[_-]?id)=)[^\s&\"'\\#]+",
    re.IGNORECASE,
)
_IN_HEADER = re.compile(
    r"(?P<before>(?<![\w-])(?:(?:proxy-)?authorization|(?:set-)?cookie|x-api-key)[ \t]*:[ \t]*)"
    r"[^\r\n\"'\\]+",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"(?P<before>(?<!\w)(?:Bearer|Basic)[ \t]+)[A-Za-z0-9._~+/-]{8,}=*", re.IGNORECASE)


def without_named_secrets(text: str) -> str:
    """``text`` with ``***`` for what is called a key, a token, a password … in it.

    JSON may be inside a string of JSON. Values that are no texts stay: they are schemas, counts and flags.
    """
    text = "".join(_outside_json_values(text))
    for pattern in (_IN_HEADER, _SCHEME, _IN_FORM):
        text = pattern.sub(lambda found: found["before"] + "***", text)
    return text


def _outside_json_values(text: str) -> Iterator[str]:
    """The parts of ``text`` around the values that are called a secret, and ``***`` for each of these."""
    at = 0
    while found := _IN_JSON.search(text, at):
        yield text[at : found.end()] + "***"
        at = _end_of_string(text, found.end(), len(found["quote"]) - 1)
    yield text[at:]


def _end_of_string(text: str, start: int, escapes: int) -> int:
    """Where the string of JSON ends that begins at ``start`` behind a quote with so many ``escapes``: a quote
    within it has more. One that is cut off ends with the string around it, or its line."""
    for found in _QUOTE_OR_LINE_END.finditer(text, start):
        if found["escapes"] is None or len(found["escapes"]) <= escapes:
            return found.start()
    return len(text)
