"""One folder of documents, as ``services.collections`` says it."""

from __future__ import annotations

from ...schema.records import (
    Record,
    key,
    many,
    optional,
    text,
)

ITEM_NAME = text(pattern=r"^[A-Za-z0-9_-]{1,64}$")
_GLOB = text(least=1, most=500)

DOCUMENTS = ("**/*.md", "**/*.markdown", "**/*.txt", "**/*.html", "**/*.htm", "**/*.rst", "**/*.pdf")
"""What ``include`` is when the config does not say: every kind of document that can be read."""


class CollectionConfig(Record):
    """One folder of documents."""

    path: str = key(text(least=1), "The folder, relative to the config's.")
    include: tuple[str, ...] = key(
        many(_GLOB, least=1),
        "Which files belong to it: globs relative to the folder; ** is any number of folders. "
        "Wildcards select nothing hidden and no files of keys: name those.",
        default=DOCUMENTS,
    )
    exclude: tuple[str, ...] = key(
        many(_GLOB), "Which of those do not, nor anything below a folder that matches.", default=()
    )
    description: str | None = key(optional(text()), "What is in it, for people.", default=None)
