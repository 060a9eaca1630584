"""The index's tables, and how a file is recognised as an index of ours."""

from __future__ import annotations

import sqlite3

VERSION = 2
"""Goes up with every change of the tables or of what readers and passages put into them."""

_TABLES = """
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path BLOB NOT NULL UNIQUE,
    stamp TEXT NOT NULL,
    digest BLOB NOT NULL,
    title TEXT NOT NULL
);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES files (id),
    position INTEGER NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX passages_of_file ON passages (file);
CREATE VIEW contents AS
    SELECT passages.id, files.title, passages.heading, passages.text
    FROM passages JOIN files ON files.id = passages.file;
CREATE VIRTUAL TABLE words USING fts5 (
    title, heading, text, content = 'contents', content_rowid = 'id',
    tokenize = "porter unicode61 remove_diacritics 2"
);
"""
_NAMES = {"files", "passages", "words"}
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}


def is_damage(error: sqlite3.Error) -> bool:
    """Whether ``error`` says that the file's content is wrong, and not that it is busy or out of reach."""
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _DAMAGE


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection holds the file just now."""
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def prepare(connection: sqlite3.Connection) -> str:
    """Make the tables in a new file. Gives what is wrong with another file as our index, or ``""``."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if version == 0 and not names:
        for statement in _TABLES.strip().split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        return ""
    if version > VERSION:
        return "newer"
    if version < VERSION:
        return "older"
    return "" if names >= _NAMES else "damaged"


def fault(connection: sqlite3.Connection) -> str:
    """``"damaged"`` when the file's pages do not fit together, else ``""``."""
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    return "" if verdict == "ok" else "damaged"
