"""Keys and base URLs from the environment, checked here so that no later error can show a key."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import urlsplit

from ...errors import AuthError, UsageError

_used: ContextVar[set[str] | None] = ContextVar("_used", default=None)
_always: ContextVar[tuple[str, ...]] = ContextVar("_always", default=())


@contextmanager
def keys_as_variables(always: tuple[str, ...] = ()) -> Generator[set[str]]:
    """Within it, ``$NAME`` stands for the key in the variable NAME: to show a request, not to send it.

    Variables of required keys are shown even when unset, with ``always`` those of all. Yields the names used.
    """
    used: set[str] = set()
    tokens = _used.set(used), _always.set(always)
    try:
        yield used
    finally:
        _used.reset(tokens[0])
        _always.reset(tokens[1])


def variable(*names: str) -> tuple[str, str]:
    """The first of ``names`` that is not empty, and its value; the first name and ``""`` when all are."""
    for name in names:
        if value := os.environ.get(name, ""):
            return name, value
    return names[0], ""


def key_from(provider: str, *names: str, where: str = "") -> str:
    """The key in the first of the variables ``names`` that is set; ``where`` is where to get one.

    Raises ``AuthError`` when none is set, or when its value cannot be a header's.
    """
    if key := optional_key(*names):
        return key
    if (used := _used.get()) is not None:
        used.add(names[0])
        return f"${names[0]}"
    wanted = " or ".join(names)
    hint = f" (keys: {where})" if where else ""
    raise AuthError(
        f"{provider} needs a key and {wanted} is not set: set {names[0]} to your key{hint}", variables=names
    )


def optional_key(*names: str) -> str:
    """Like ``key_from``, but ``""`` when none is set."""
    name, key = variable(*names)
    if (used := _used.get()) is not None:
        if not key and name not in _always.get():
            return ""
        used.add(name)
        return f"${name}"
    for position, character in enumerate(key, start=1):
        if not "!" <= character <= "~":
            raise AuthError(
                f"{name} holds a character that no key can hold (a space, line break or other than ASCII) "
                f"at position {position}: set it again without it"
            )
    return key


def held_value(value: str, called: str) -> str:
    """``value``, a secret in the config; ``$called`` where keys are shown as variables."""
    used = _used.get()
    if not value or used is None:
        return value
    used.add(called)
    return f"${called}"


def base_url(default: str, *names: str) -> str:
    """The base URL in the first of ``names`` that is set, else ``default``; without a slash at its end.

    Raises ``UsageError`` that names the variable when it is not a plain http(s) URL.
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
