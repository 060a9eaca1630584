"""What looks like a key wherever it stands: the forms that services give to theirs, and passwords in URLs."""

from __future__ import annotations

import re
from collections.abc import Callable

LOOKS_LIKE_KEY = re.compile(
    r"(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{12,}"
    r"|xox[abprs]-[\w-]{10,}|AKIA[A-Z0-9]{12,}|AIza[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|ya29\.[\w-]{16,}"
    r"|hf_[A-Za-z0-9]{16,}|ntn_[A-Za-z0-9]{16,}|lin_api_\w{12,}|(?:tvly|pplx|gsk|fc|ctx7sk)[-_][\w-]{12,}"
)
SECRET_NAME = re.compile(
    r"token(?!s?_?(?:url|env|field|count|limit|s$))|secret|passw|passphrase|credential|authorization|cookie"
    r"|api[-_]?key|(?:access|private|signing|encryption|state)[-_]?key|signature|(?:^|[-_])(?:key|auth|pat|pwd|dsn)$",
    re.IGNORECASE,
)
"""The name of a variable, a header or a key whose value is a secret."""
URL_PASSWORD = re.compile(r"(?P<before>[a-z][a-z0-9+.-]*://[^/@:\s]*:)(?P<value>[^@\s]+)(?=@)", re.IGNORECASE)


def without_keys(text: str, put: Callable[[str, str], str]) -> str:
    """``text`` with what looks like a key, and the passwords of URLs in it, replaced by ``put``, which is
    given what it is called and its value."""
    text = LOOKS_LIKE_KEY.sub(lambda found: put("secret", found.group()), text)
    return URL_PASSWORD.sub(lambda found: found["before"] + put("password", found["value"]), text)
