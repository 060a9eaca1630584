"""Where a store is: a file, or a URL of SQLite or PostgreSQL, which is never shown with its password."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from toolspan_server.common.state.private_files import real_file

from ...errors import StoreError

__all__ = ["Place", "place_of"]

_POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")
_KNOWN = "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"
_SECRET = re.compile("pass|secret|key", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """A ``path`` of SQLite, or the ``url`` of a PostgreSQL database; ``shown`` is it in messages, with no
    secret."""

    path: Path | None
    url: str
    shown: str

    def without_secrets(self, message: str) -> str:
        """``message`` with what is secret of the URL taken out."""
        for secret in _secrets(self.url):
            message = message.replace(secret, "***")
        return message


def place_of(given: Path | str) -> Place:
    """The place that ``given`` names: a path, or a URL. A relative path of SQLite starts at the folder of the
    process. Raises ``StoreError`` for a URL of another sort."""
    text = str(given)
    if isinstance(given, Path) or "://" not in text:
        return Place(real_file(Path(given)), "", text)
    scheme, _, rest = text.partition("://")
    if scheme == "sqlite":
        return _sqlite(rest)
    if scheme in _POSTGRES:
        return Place(None, text, _shown(text))
    raise StoreError(f"{scheme[:40]}://… is no place of a validation store (write {_KNOWN})")


def _sqlite(rest: str) -> Place:
    file = unquote(rest.removeprefix("/"))
    if not rest.startswith("/") or file in ("", ":memory:") or "?" in rest:
        raise StoreError(
            "the URL of the validation store names no file (write sqlite:///FILE, sqlite:////FOLDER/FILE for "
            "an absolute path; it takes no ?options)"
        )
    return Place(Path(file).resolve(), "", file)


def _shown(url: str) -> str:
    try:
        parts = urlsplit(url)
        user = f"{parts.username}:***@" if parts.password is not None else ""
        address = user + parts.netloc.rpartition("@")[2] if user else parts.netloc
        options = [(name, "***" if _SECRET.search(name) else value) for name, value in parse_qsl(parts.query)]
    except ValueError:
        raise StoreError(f"the URL of the validation store cannot be read (write {_KNOWN})") from None
    query = "?" + urlencode(options, safe="*,=/-") if options else ""
    return f"postgresql://{address}{parts.path}{query}"


def _secrets(url: str) -> list[str]:
    if not url:
        return []
    parts = urlsplit(url)
    found = [url]
    if parts.password:
        found += [parts.password, unquote(parts.password)]
    found += [value for name, value in parse_qsl(parts.query) if _SECRET.search(name)]
    return [each for each in found if each]
