"""The report in its forms: each is a function from ``Contents`` to text, in a module of its own.

Those with every trial give the text in pieces, so that no more than a piece of it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from . import csv, document, html, junit, markdown, svg, table
from .contents import Contents, contents_of
from .document import baseline_of

__all__ = ["FORMS", "FORMS_OF_COUNTS", "Contents", "baseline_of", "contents_of"]


def _whole(render: Callable[[Contents], str]) -> Callable[[Contents], Iterable[str]]:
    return lambda contents: (render(contents),)


FORMS: Mapping[str, Callable[[Contents], Iterable[str]]] = {
    "table": _whole(table.render),
    "html": _whole(html.render),
    "json": document.render,
    "junit": junit.render,
    "markdown": _whole(markdown.render),
    "csv": _whole(csv.render),
    "svg": _whole(svg.render),
    "badge": _whole(markdown.badge_line),
}
"""Each form by its name on the command line, in pieces of its text; ``badge`` are lines of Markdown."""

FORMS_OF_COUNTS = frozenset({"table", "svg", "badge"})
"""Those that need of a record no more than its counts, without its trials."""
