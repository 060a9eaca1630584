"""The address of a page, as a person has to see it before visiting it."""

from __future__ import annotations

import unicodedata
from urllib.parse import urlsplit, urlunsplit


class Address:
    """What ``url`` (http or https) leads to. ``host`` is its host in letters and, where these are not plain,
    as the network knows it (``xn--…``); ``ascii`` is the address with that; ``warnings`` say what about it
    may deceive."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        shown = parts.hostname or ""
        plain = _ascii(shown)
        self.host = shown if shown == plain else f"{plain} (written {_letters(shown, plain)})"
        port = f":{parts.port}" if parts.port is not None else ""
        named = f"[{plain}]" if ":" in plain else plain
        self.ascii = urlunsplit(parts._replace(netloc=named + port))
        self.warnings = [
            *_warnings(_letters(shown, plain), plain),
            *(
                ["the address holds a name or password before the @: they are left out"]
                if "@" in parts.netloc
                else []
            ),
            *(["the connection is not encrypted (http)"] if parts.scheme == "http" else []),
        ]


def _ascii(host: str) -> str:
    """``host`` as the network knows it; escaped where it is no name at all."""
    if host.isascii():
        return host
    import idna

    try:
        return idna.encode(host, uts46=True).decode()
    except idna.IDNAError:
        return host.encode("punycode", "replace").decode("ascii", "replace")


def _letters(host: str, plain: str) -> str:
    """``host`` in letters, also where it is written as ``xn--…``."""
    if "xn--" not in plain:
        return host
    import idna

    try:
        return idna.decode(plain)
    except idna.IDNAError:
        return host


def _warnings(letters: str, plain: str) -> list[str]:
    if letters.isascii():
        return []
    scripts = {_script(letter) for letter in letters if letter.isalpha()}
    found = [f"its name is not in plain letters: it is {plain}, shown {letters!r}"]
    if len(scripts) > 1:
        mixed = ", ".join(sorted(scripts))
        found.append(
            f"it mixes letters of {mixed}, some of which look like others: it may imitate another site"
        )
    elif scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}:
        found.append("its letters look like Latin ones and are others: it may imitate another site")
    return found


def _script(letter: str) -> str:
    """The script of a letter, by its name in Unicode: ``LATIN``, ``CYRILLIC`` …"""
    return unicodedata.name(letter, "unknown").split(" ", 1)[0]
