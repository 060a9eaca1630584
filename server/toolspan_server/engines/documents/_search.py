"""A question put to an index."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from pathlib import Path
from threading import Event

from ._folder import shown
from ._index import connected
from ._search_result import Hit, SearchResult
from ._snippets import CLOSE, OPEN, snippet
from ._terms import expression

_CANDIDATES = 200
_STOP_STEPS = 20_000
_TITLE, _HEADING, _TEXT = 3.0, 4.0, 1.0

_RANKED = f"""
SELECT rowid, bm25(words, {_TITLE}, {_HEADING}, {_TEXT}) AS rank FROM words
WHERE words MATCH ? ORDER BY rank LIMIT {_CANDIDATES}
"""
_AMONG = "SELECT rowid FROM words WHERE words MATCH ? AND rowid IN (SELECT value FROM json_each(?))"
_SHOWN = """
SELECT files.path, passages.heading, highlight(words, 2, ?, ?)
FROM words JOIN passages ON passages.id = words.rowid JOIN files ON files.id = passages.file
WHERE words MATCH ? AND words.rowid = ?
"""


def search(folder: Path, words: list[str], limit: int, stop: Event) -> SearchResult:
    """The passages of the index in ``folder`` that hold any of ``words``, at most ``limit``.

    A passage's score is 1 + BM25 (title and heading counting more than text), times the share of the
    words that it holds. Raises ``DamagedIndex``, and ``sqlite3.OperationalError`` once ``stop`` is set.
    """
    with connected(folder) as connection:
        connection.set_progress_handler(stop.is_set, _STOP_STEPS)
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        asked = expression(words)
        (total,) = connection.execute("SELECT count(*) FROM words WHERE words MATCH ?", (asked,)).fetchone()
        best = _scores(connection, words)[:limit]
        return SearchResult(total, tuple(_hit(connection, asked, row, score) for row, score in best))


def _scores(connection: sqlite3.Connection, words: list[str]) -> list[tuple[int, float]]:
    ranked: list[tuple[int, float]] = connection.execute(_RANKED, (expression(words),)).fetchall()
    among = json.dumps([row for row, _ in ranked])
    held: Counter[int] = Counter()
    for word in words:
        held.update(row for (row,) in connection.execute(_AMONG, (expression([word]), among)))
    scored = [(row, (1 - rank) * held[row] / len(words)) for row, rank in ranked]
    return sorted(scored, key=lambda hit: (-hit[1], hit[0]))


def _hit(connection: sqlite3.Connection, asked: str, row: int, score: float) -> Hit:
    path, heading, marked = connection.execute(_SHOWN, (OPEN, CLOSE, asked, row)).fetchone()
    return Hit(shown(os.fsdecode(path)), heading, score, snippet(marked) or heading)
