"""What looks like a key wherever it stands: the forms that services give to theirs, and passwords in URLs.

Texts of any length come from outside, so that each pattern reads a text once: what it cannot use it passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_KEY = (
    r"(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{12,}"
    r"|xox[abprs]-[\w-]{10,}|AKIA[A-Z0-9]{12,}|AIza[\w-]{20,}|ya29\.[\w-]{16,}"
    r"|hf_[A-Za-z0-9]{16,}|ntn_[A-Za-z0-9]{16,}|lin_api_\w{12,}|(?:tvly|pplx|gsk|fc|ctx7sk)[-_][\w-]{12,}"
)
_KEY_IN_TEXT = re.compile(_KEY)
_SIGNED_TOKEN = re.compile(r"eyJ[\w-]{8,}(?P<rest>\.[\w-]+\.[\w-]*)?")
SECRET_NAME = re.compile(
    r"token(?!s?_?(?:url|env|field|count|limit|s$))|secret|passw|passphrase|credential|authorization|cookie"
    r"|api[-_]?key|(?:access|private|signing|encryption|state)[-_]?key|signature|(?:^|[-_])(?:key|auth|pat|pwd|dsn)$",
    re.IGNORECASE,
)
"""The name of a variable, a header or a key whose value is a secret."""
_URL_PASSWORD = re.compile(
    r"(?P<before>(?<![a-z0-9+.-])[a-z0-9+.-]+://[^/@:\s]*:)(?P<value>[^@\s]+)(?P<end>@?)", re.IGNORECASE
)


def holds_key(text: str) -> bool:
    """Whether something in ``text`` looks like a key."""
    tokens = _SIGNED_TOKEN.finditer(text) if "eyJ" in text else ()
    return any(found["rest"] for found in tokens) or _KEY_IN_TEXT.search(text) is not None


def is_key(text: str) -> bool:
    """Whether ``text`` is what looks like a key, and nothing else."""
    token = _SIGNED_TOKEN.fullmatch(text)
    return (token is not None and token["rest"] is not None) or _KEY_IN_TEXT.fullmatch(text) is not None


def without_keys(text: str, put: Callable[[str, str], str]) -> str:
    """``text`` with what looks like a key, and the passwords of URLs in it, replaced by ``put``, which is
    given what it is called and its value."""
    text = without_key_shapes(text, lambda value: put("secret", value))
    return without_url_passwords(text, lambda value: put("password", value))


def without_key_shapes(text: str, put: Callable[[str], str]) -> str:
    """``text`` with what looks like a key replaced by ``put``.

    Any text comes here, from anybody. Each pattern takes what it began to read even if it is no secret, so
    that nothing is read again and again.
    """
    if "eyJ" in text:
        text = _SIGNED_TOKEN.sub(lambda found: put(found.group()) if found["rest"] else found.group(), text)
    return _KEY_IN_TEXT.sub(lambda found: put(found.group()), text)


def without_url_passwords(text: str, put: Callable[[str], str]) -> str:
    """``text`` with the passwords of URLs in it replaced by ``put``."""
    if "://" not in text:
        return text

    def changed(found: re.Match[str]) -> str:
        return found["before"] + put(found["value"]) + "@" if found["end"] else found.group()

    return _URL_PASSWORD.sub(changed, text)
