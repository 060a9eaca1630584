"""Document collections: folders of documents, read, cut into passages by heading, and searched.

``Collection`` is one of them, alive. What stands behind it: ``_tree`` (which files), ``_files`` and
``_readers`` (what is in them), ``_passages`` (cut by heading), ``_index`` (SQLite FTS5), ``_keeper``
and ``_changes`` (kept current), ``_terms`` and ``_snippets`` (asked).
"""

from __future__ import annotations

from ._collection import Collection
from ._search_result import Hit, SearchResult

__all__ = ["Collection", "Hit", "SearchResult"]
