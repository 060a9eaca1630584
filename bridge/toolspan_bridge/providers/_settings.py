"""What is read from the environment: keys, base URLs. Checked here, so that no later error can show a key."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from ..errors import AuthError, UsageError


def variable(*names: str) -> tuple[str, str]:
    """The first of ``names`` that is not empty, and its value; the first name and ``""`` when all are."""
    for name in names:
        if value := os.environ.get(name, ""):
            return name, value
    return names[0], ""


def key_from(provider: str, *names: str, where: str = "") -> str:
    """The key in the first of the variables ``names`` that is set; ``where`` says where one is to be had.

    Raises ``AuthError`` when none is set, or when what is set can be no header's value.
    """
    if key := optional_key(*names):
        return key
    wanted = " or ".join(names)
    hint = f" (keys: {where})" if where else ""
    raise AuthError(f"{provider} needs a key and {wanted} is not set: set {names[0]} to your key{hint}")


def optional_key(*names: str) -> str:
    """As ``key_from``, but ``""`` when none is set."""
    name, key = variable(*names)
    for position, character in enumerate(key, start=1):
        if not "!" <= character <= "~":
            raise AuthError(
                f"{name} holds a character that no key can hold (a space, line break or other than ASCII) "
                f"at position {position}: set it again without it"
            )
    return key


def base_url(default: str, *names: str) -> str:
    """The base URL in the first of ``names`` that is set, else ``default``; without a slash at its end.

    Raises ``UsageError`` that names the variable when it holds no plain http(s) URL.
    """
    name, text = variable(*names) if names else ("", "")
    url = (text or default).strip().rstrip("/")
    try:
        parts = urlsplit(url)
        sound = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and url.isprintable()
            and " " not in url
        )
        parts.port  # noqa: B018 - reading it is what checks it
    except ValueError:
        sound = False
        parts = urlsplit("")
    if not sound:
        raise UsageError(f"{name or 'the base URL'} is no http or https URL: write it as {default}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            f"{name} may hold only scheme, host, port and path, as in {default}: keys have their own variable"
        )
    return url
