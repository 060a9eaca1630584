"""The report in its forms: each is a function from ``Contents`` to text, in a module of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from . import csv, document, html, junit, markdown, svg, table
from .contents import Contents, contents_of
from .document import baseline_of

__all__ = ["FORMS", "FORMS_OF_COUNTS", "Contents", "baseline_of", "contents_of"]

FORMS: Mapping[str, Callable[[Contents], str]] = {
    "table": table.render,
    "html": html.render,
    "json": document.render,
    "junit": junit.render,
    "markdown": markdown.render,
    "csv": csv.render,
    "svg": svg.render,
    "badge": markdown.badge_line,
}
"""Each form by its name on the command line; ``badge`` are lines of Markdown."""

FORMS_OF_COUNTS = frozenset({"table", "svg", "badge"})
"""Those that need of a record no more than its counts, without its trials."""
