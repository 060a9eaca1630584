"""URLs of databases: what is wrong with one, where it leads, and how to speak of it without its password."""

from __future__ import annotations

import re
from importlib.util import find_spec
from urllib.parse import urlsplit

from ...problems import Fault, Faulty

_URL = re.compile(r"(postgres|[a-z][a-z0-9]*)(?:\+[a-z0-9_]+)?://(.*)\Z", re.DOTALL)


def checked_url(written: str) -> str:
    """``written``. Raises ``Faulty``, which never shows it: it may hold a password."""
    found = _URL.match(written)
    if found is None:
        raise Faulty(Fault((), "is no database URL", "write one such as sqlite:///data.db"))
    engine, rest = found.groups()
    if engine == "sqlite" and rest.split("?")[0] in ("", "/", "/:memory:"):
        raise Faulty(
            Fault((), "names no file: a database in memory is always empty", "write sqlite:///data.db")
        )
    if engine in ("postgres", "postgresql") and find_spec("psycopg") is None:
        raise Faulty(Fault((), "needs the package psycopg", "pip install 'toolspan[postgres]'"))
    return written


def host_of(url: str) -> str | None:
    """The host of the database; ``None`` for a file."""
    if url.startswith("sqlite"):
        return None
    try:
        return urlsplit(url).hostname or "the server of its URL"
    except ValueError:
        return "the server of its URL"


def sqlite_file(url: str) -> str | None:
    """The file of a SQLite database, relative to the config's folder or absolute; ``None`` for others."""
    from sqlalchemy.engine import make_url

    parts = make_url(url)
    return parts.database if parts.get_backend_name() == "sqlite" else None


def without_secrets(error: BaseException, url: str) -> str:
    """What ``error`` says, without the URL and its password."""
    from sqlalchemy.engine import make_url

    message = f"{type(error).__name__}: {error}".replace(url, "***")
    password = make_url(url).password
    return message.replace(password, "***") if password else message
