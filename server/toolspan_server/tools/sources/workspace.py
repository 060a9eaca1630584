"""``workspace``: the tools that work in a folder: Read, Write, Edit, Glob, Grep and others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any

import anyio
from typing_extensions import override

from ...config import ToolConfig
from ...parts.environment import Environment
from ...parts.reference import Reference
from ...parts.source import Offer, Source, SourceConfig
from ...schema.constraints import Limits, OneOf
from ...schema.records import key
from ..handlers.workspace._definitions import definitions

if TYPE_CHECKING:
    from ..handlers.workspace._tool import Definition

_Glob = Annotated[str, Limits(least=1, most=256)]

TAG = "workspace"
"""The tag of every tool of a workspace."""

FOR_PEOPLE = "for-people"
"""The tag of those that a client keeps from models and gives to people, as commands."""


class Config(SourceConfig):
    """``{"type": "workspace", "workspace": "<one of services.workspaces>"}``: its tools."""

    is_immediate = True

    type: Annotated[str, OneOf(("workspace",))] = key(default="workspace")
    workspace: str = key("The name of the workspace in services.workspaces.", least=1)
    include: tuple[_Glob, ...] = key("The tools to include: globs over their names.", least=1, default=("*",))
    exclude: tuple[_Glob, ...] = key("The tools to leave out of those.", default=())
    prefix: str = key("The prefix of every name, such as ws_.", pattern=r"^[A-Za-z0-9_.-]{0,64}$", default="")
    approval: bool = key(
        "Whether this server asks a person, through the client, before tools change or run something. "
        "false leaves that to the client, but for Bash where no sandbox confines it.",
        default=True,
    )

    @classmethod
    @override
    def references(cls, written: Mapping[str, Any]) -> Iterable[Reference]:
        yield Reference(("workspace",), "workspaces", written.get("workspace"))

    @override
    def build(self, environment: Environment, services: Mapping[str, Any]) -> Source:
        return _Workspace(self, services)


class _Workspace:
    def __init__(self, config: Config, services: Mapping[str, Any]) -> None:
        self._config = config
        self._services = services
        self._offered = 0
        self._names: list[str] = []

    async def run(self, offer: Offer) -> None:
        found = [each for each in definitions() if self._has(each.name)]
        self._names = [each.name for each in found]
        tools = [self._tool(await self._described(each)) for each in found]
        self._offered = len(tools)
        offer(tools)
        await anyio.sleep_forever()

    def state(self) -> Mapping[str, Any]:
        return {"name": self._config.workspace, "state": "ready" if self._offered else "waiting"}

    async def _described(self, definition: Definition) -> Definition:
        """``definition`` with what depends on the workspace and the machine."""
        workspaces = self._services.get("workspaces")
        if definition.describe is None or workspaces is None:
            return definition
        return await definition.describe(definition, workspaces, self._config.workspace)

    def _has(self, name: str) -> bool:
        included = any(fnmatchcase(name, each) for each in self._config.include)
        return included and not any(fnmatchcase(name, each) for each in self._config.exclude)

    def _tool(self, definition: Definition) -> ToolConfig:
        options: dict[str, Any] = {"workspace": self._config.workspace}
        if definition.calls_others:
            options |= {"prefix": self._config.prefix, "tools": self._names}
        hints = ("read_only", "destructive", "idempotent", "open_world")
        return ToolConfig(
            name=self._config.prefix + definition.name,
            description=definition.description,
            parameters=definition.parameters,
            implementation={"type": "internal", "handler": definition.name, "options": options},
            annotations={hint: getattr(definition, hint) for hint in hints},
            sequential=definition.sequential,
            approval=definition.approval and (self._config.approval or definition.always_asks),
            tags=(
                TAG,
                f"{TAG}:{self._config.workspace}",
                f"works-as:{definition.name}",
                *((FOR_PEOPLE,) if definition.for_people else ()),
                *definition.tags,
            ),
            timeout_ms=definition.timeout_ms,
        )
