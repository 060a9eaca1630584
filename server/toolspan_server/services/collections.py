"""``services.collections``: folders of documents that tools can search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, RootModel
from typing_extensions import override

from ..kinds._base import Environment
from ._base import ServiceConfig

if TYPE_CHECKING:
    from ._collections import Collections

CollectionName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Glob = Annotated[str, Field(min_length=1, max_length=500)]

DOCUMENTS = ("**/*.md", "**/*.markdown", "**/*.txt", "**/*.html", "**/*.htm", "**/*.rst", "**/*.pdf")
"""What ``include`` is when the config does not say: every kind of document that can be read."""


class CollectionConfig(BaseModel):
    """One folder of documents."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    path: str = Field(min_length=1, description="The folder, relative to the config's.")
    include: tuple[Glob, ...] = Field(
        default=DOCUMENTS,
        min_length=1,
        description="Which files belong to it: globs relative to the folder; ** is any number of folders.",
    )
    exclude: tuple[Glob, ...] = Field(
        default=(), description="Which of those do not, nor anything below a folder that matches."
    )
    description: str | None = Field(default=None, description="What is in it, for people.")


class Config(RootModel[dict[CollectionName, CollectionConfig]], ServiceConfig):
    """``{"docs": {"path": "docs"}}``: the collections by name."""

    model_config = ConfigDict(frozen=True)

    @override
    def build(self, environment: Environment) -> Collections:
        from ._collections import Collections

        return Collections(self.root, environment)
