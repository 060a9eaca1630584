"""``services.workspaces``: folders in which tools may read, search and change files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from typing_extensions import override

from ...parts.environment import Environment
from ...parts.service import ServiceConfig
from ...problems import Path
from ._workspace_config import ItemName, WorkspaceConfig

if TYPE_CHECKING:
    from ._workspaces import Workspaces


class Config(ServiceConfig):
    """``{"project": {"path": "."}}``: the workspaces by name."""

    about = "Folders in which tools may read, search and change files, by name."

    root: dict[ItemName, WorkspaceConfig]

    @classmethod
    @override
    def is_local(cls, path: Path) -> bool:
        return path[1:2] in (("path",), ("roots",)) or path[1:3] == ("bash", "readable")

    @override
    def hosts(self) -> Iterable[tuple[str, str]]:
        for name, workspace in self.root.items():
            if workspace.web_search is not None:
                yield from ((name, host) for host in workspace.web_search.hosts())

    @override
    def paths(self) -> Iterable[tuple[str, str]]:
        for name, workspace in self.root.items():
            yield name, workspace.path
            yield from ((name, root.path) for root in workspace.roots)
            yield from ((name, path) for path in workspace.bash.readable)

    @override
    def build(self, environment: Environment) -> Workspaces:
        from ._workspaces import Workspaces

        return Workspaces(self.root, environment)
