"""One folder of documents, as ``services.collections`` says it."""

from __future__ import annotations

from typing import Annotated

from ...schema.constraints import Limits
from ...schema.records import (
    Record,
    key,
)

ItemName = Annotated[str, Limits(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
_Glob = Annotated[str, Limits(least=1, most=500)]

DOCUMENTS = ("**/*.md", "**/*.markdown", "**/*.txt", "**/*.html", "**/*.htm", "**/*.rst", "**/*.pdf")
"""What ``include`` is when the config does not say: every kind of document that can be read."""


class CollectionConfig(Record):
    """One folder of documents."""

    path: str = key("The folder, relative to the config's.", least=1)
    include: tuple[_Glob, ...] = key(
        "Which files belong to it: globs relative to the folder; ** is any number of folders. "
        "Wildcards select nothing hidden and no files of keys: name those.",
        least=1,
        default=DOCUMENTS,
    )
    exclude: tuple[_Glob, ...] = key(
        "Which of those do not, nor anything below a folder that matches.", default=()
    )
    description: str | None = key("What is in it, for people.", default=None)
