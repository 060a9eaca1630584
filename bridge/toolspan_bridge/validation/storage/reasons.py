"""Why a database did not do it, in words for people, without a password."""

from __future__ import annotations

from .file import BUSY_SECONDS
from .places import Place

__all__ = ["DAMAGED", "LOCK_SECONDS", "STATEMENT_SECONDS", "is_damage", "reason"]

STATEMENT_SECONDS = 60
LOCK_SECONDS = 30
DAMAGED = "it is damaged (the next start sets it aside under another name)"

_SQLITE = {
    "SQLITE_FULL": "the disk is full (make room, then try again)",
    "SQLITE_IOERR": "the disk does not take or give the data (is it full, over quota or failing?)",
    "SQLITE_READONLY": "it is read-only (check its permissions and its folder's)",
    "SQLITE_CANTOPEN": "it cannot be opened (check its permissions and its folder's)",
    "SQLITE_PERM": "permission denied (check its permissions and its folder's)",
    "SQLITE_BUSY": f"another process has held it for {BUSY_SECONDS:g} s (end it, or try again)",
    "SQLITE_CORRUPT": DAMAGED,
    "SQLITE_NOTADB": DAMAGED,
}
_POSTGRES = {
    "57014": f"it took longer than {STATEMENT_SECONDS} s (try again)",
    "55P03": f"another process has held it for {LOCK_SECONDS} s (end it, or try again)",
    "53100": "the server's disk is full (make room, then try again)",
    "53300": "the server takes no more connections (end some, or raise its max_connections)",
    "42501": "permission denied (grant this user the rights to the schema and its tables)",
    "25006": "the server is read-only (connect to its primary)",
    "3F000": "there is no schema to write in (create the one that the URL's search_path names)",
    "42P01": "a table of the store is missing (was it dropped?)",
}
_AWAY = "does the server run, and are host, port, user, password and database right?"
_LONGEST = 500


def reason(error: BaseException | None, place: Place) -> str:
    """What the driver's ``error`` means for the store at ``place``."""
    name = getattr(error, "sqlite_errorname", "") or ""
    for prefix, words in _SQLITE.items():
        if name.startswith(prefix):
            return words
    if place.path is not None:
        return f"{error} ({name or type(error).__name__})"
    state = getattr(error, "sqlstate", None) or ""
    told = place.without_secrets(" ".join(str(error).split()))[:_LONGEST]
    # Without a state the driver speaks: it is not connected, as classes 08, 28, 3D and 57P say too.
    is_away = not state or state.startswith(("08", "28", "3D", "57P"))
    return _POSTGRES.get(state) or (f"{told} ({_AWAY})" if is_away else told)


def is_damage(error: BaseException | None) -> bool:
    """Whether ``error`` says that the file of SQLite is not what was written."""
    return (getattr(error, "sqlite_errorname", "") or "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))
