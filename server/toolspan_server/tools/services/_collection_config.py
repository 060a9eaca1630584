"""The config of one folder of documents in ``services.collections``."""

from __future__ import annotations

from typing import Annotated

from ...schema.constraints import Limits
from ...schema.keys import DATA, FILE_INSIDE, Inert
from ...schema.records import (
    Record,
    key,
)

ItemName = Annotated[str, Limits(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
_Glob = Annotated[str, Limits(least=1, most=500)]

DOCUMENTS = ("**/*.md", "**/*.markdown", "**/*.txt", "**/*.html", "**/*.htm", "**/*.rst", "**/*.pdf")
"""The default of ``include``: every document type that can be read."""


class CollectionConfig(Record):
    """One folder of documents."""

    path: str = key(
        "The folder of the documents, relative to the config's folder.", least=1, inert=FILE_INSIDE
    )
    include: tuple[_Glob, ...] = key(
        "The files that belong to it: globs relative to the folder; ** matches any number of folders."
        " Wildcards select no hidden files and no key files: name those.",
        least=1,
        default=DOCUMENTS,
        inert=Inert("it selects files below the folder of the collection, which opens no link out of it"),
    )
    exclude: tuple[_Glob, ...] = key(
        "The files to leave out, and folders with all that is below them.", default=(), inert=DATA
    )
    description: str | None = key("A description of the content, for people.", default=None, inert=DATA)
