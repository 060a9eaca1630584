"""``services.collections``: folders of documents that tools can search."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from typing_extensions import override

from ...parts.environment import Environment
from ...parts.service import ServiceConfig
from ...problems import Path
from ...schema.keys import Inert
from ._collection_config import CollectionConfig, ItemName

if TYPE_CHECKING:
    from ._collections import Collections


class Config(ServiceConfig):
    """``{"docs": {"path": "docs"}}``: the collections by name."""

    about = "Folders of documents that tools can search, by name."

    inert = Inert("documents of the folder are read as text")

    root: dict[ItemName, CollectionConfig]

    @classmethod
    @override
    def is_local(cls, path: Path) -> bool:
        return path[1:] == ("path",)

    @override
    def paths(self) -> Iterable[tuple[str, str]]:
        return ((name, collection.path) for name, collection in self.root.items())

    @override
    def build(self, environment: Environment) -> Collections:
        from ._collections import Collections

        return Collections(self.root, environment)
