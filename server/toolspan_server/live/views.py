"""Views: the part of the server that an endpoint shows, all of it or a toolset."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from ..calls.caller import Origin
from ..calls.context import Context
from ..calls.results import ToolResult
from ..tools.registry import Registry, Tool
from .served_tool import ServedTool

if TYPE_CHECKING:
    from ..config import Config, ToolsetConfig
    from ..engines.definitions.call_preview import CallPreview
    from .offered.served import ServedPrompts, ServedResources
    from .runtime import Runtime
    from .search.tools import SearchedTools


_log = logging.getLogger(__name__)


class View(ABC):
    """The server as the clients of one endpoint see it. Properties are current: the config may change."""

    toolset: str | None = None
    """The toolset that is shown; ``None``: everything. Resources and prompts belong to no toolset."""

    def __init__(self) -> None:
        self._served: dict[str, ServedTool] = {}

    @property
    @abstractmethod
    def config(self) -> Config:
        """The config that is served now."""

    @property
    @abstractmethod
    def registry(self) -> Registry:
        """The tools that are served now, shown here or not."""

    @property
    @abstractmethod
    def version(self) -> int:
        """A number that changes whenever the listed items may have changed."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The server's name, constant for as long as it runs."""

    @property
    @abstractmethod
    def is_settled(self) -> bool:
        """Whether the list of tools is complete: at the start, sources get some time to offer theirs."""

    @property
    def description(self) -> str | None:
        """A description of the endpoint."""
        return None

    @property
    def instructions(self) -> str | None:
        """The instructions for clients."""
        return self.config.instructions

    @property
    def problems(self) -> tuple[str, ...]:
        """Why tools are missing from the list, as far as clients are told: a sentence for each source that
        failed."""
        return ()

    @property
    def tools(self) -> list[Tool]:
        """The tools, in the order of the list."""
        return list(self.registry)

    @property
    def listed(self) -> list[Tool]:
        """The tools of ``tools/list``: ``tools``, or where they are too many, the few that find them."""
        searched = self._searched()
        return self.tools if searched is None else searched.listed

    def tool(self, name: str) -> ServedTool | None:
        """The tool ``name``, if it is shown here, listed or not."""
        revision = self.registry.revision
        served = self._served.get(name)
        if served is not None and served.revision == revision:
            return served
        searched = self._searched()
        tool = (searched and searched.own(name)) or self._find(name)
        if tool is None:
            return None
        served = self._served[tool.name] = ServedTool(tool, revision, self._run)
        return served

    @property
    def resources(self) -> ServedResources | None:
        """What clients may read; ``None`` when the config has none."""
        return None

    @property
    def prompts(self) -> ServedPrompts | None:
        """The prompts; ``None`` when the config has none."""
        return None

    def _find(self, name: str) -> Tool | None:
        return self.registry.get(name)

    def _searched(self) -> SearchedTools | None:
        """How the tools are found where they are too many to list; ``None`` where all are listed."""
        return None

    @abstractmethod
    def _run(
        self,
        served: ServedTool,
        arguments: Mapping[str, Any] | None,
        context: Context | Origin,
        meta: Mapping[str, Any] | None,
    ) -> Coroutine[Any, Any, ToolResult]:
        """Run ``served``, or what has its name here since the config or a source changed."""

    async def preview(
        self, served: ServedTool, arguments: Mapping[str, Any], origin: Origin, meta: Mapping[str, Any]
    ) -> CallPreview:
        """What a person is shown of a call of ``served`` before they allow it."""
        raise NotImplementedError(f"nothing runs {served.tool.name!r} yet")


class ServerView(View):
    """The whole of a running server."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__()
        self.runtime = runtime
        self._search: tuple[int, SearchedTools | None] = (-1, None)
        self._shadowed: set[str] = set()

    @property
    @override
    def config(self) -> Config:
        return self.runtime.config

    @property
    @override
    def registry(self) -> Registry:
        return self.runtime.registry

    @property
    @override
    def version(self) -> int:
        return self.runtime.changes.version

    @property
    @override
    def name(self) -> str:
        return self.runtime.name

    @property
    @override
    def is_settled(self) -> bool:
        return self.runtime.is_settled

    @property
    @override
    def problems(self) -> tuple[str, ...]:
        return self.runtime.source_problems()

    async def settled(self) -> None:
        """Wait until ``is_settled``, which takes no longer than ``limits.upstream_connect_seconds``."""
        await self.runtime.settled()

    @property
    @override
    def resources(self) -> ServedResources | None:
        return self.runtime.snapshot.offered_resources

    @property
    @override
    def prompts(self) -> ServedPrompts | None:
        return self.runtime.snapshot.offered_prompts

    @override
    def _searched(self) -> SearchedTools | None:
        aggregate = self.config.aggregate
        if aggregate is None or aggregate.search is None:
            return None
        revision = self.registry.revision
        if self._search[0] != revision:
            tools = {tool.name: tool for tool in self.tools}
            made = None
            if len(tools) > aggregate.search.above:
                from .search.tools import SearchedTools

                made = SearchedTools(aggregate.search, tools, self.runtime.run, self._settled_search)
                self._tell_shadowed(made)
            self._search = (revision, made)
        return self._search[1]

    def _tell_shadowed(self, searched: SearchedTools) -> None:
        for name in set(searched.shadowed) - self._shadowed:
            self._shadowed.add(name)
            _log.warning("the tool %r is left out: tools are searched and called by one of that name", name)

    async def _settled_search(self) -> SearchedTools | None:
        await self.settled()
        return self._searched()

    @override
    def _run(
        self,
        served: ServedTool,
        arguments: Mapping[str, Any] | None,
        context: Context | Origin,
        meta: Mapping[str, Any] | None,
    ) -> Coroutine[Any, Any, ToolResult]:
        current = served if served.revision == self.registry.revision else self.tool(served.tool.name)
        if current is None:
            return self.runtime.refuse_unknown(served.tool.name)
        return self.runtime.run(current.tool, arguments, context, meta)

    @override
    async def preview(
        self, served: ServedTool, arguments: Mapping[str, Any], origin: Origin, meta: Mapping[str, Any]
    ) -> CallPreview:
        return await self.runtime.preview(served.tool, arguments, origin, meta)


class ToolsetView(ServerView):
    """The server as the clients of a toolset see it; empty once the config has none of that name."""

    def __init__(self, runtime: Runtime, toolset: str) -> None:
        super().__init__(runtime)
        self.toolset = toolset
        self._known: tuple[int, dict[str, Tool]] = (-1, {})

    @property
    @override
    def description(self) -> str | None:
        config = self._config()
        return None if config is None else config.description

    @property
    @override
    def instructions(self) -> str | None:
        config = self._config()
        whole = self.config.instructions
        return whole if config is None or config.instructions is None else config.instructions

    @property
    @override
    def resources(self) -> None:
        return None

    @property
    @override
    def prompts(self) -> None:
        return None

    @property
    @override
    def tools(self) -> list[Tool]:
        return list(self._shown().values())

    @override
    def _find(self, name: str) -> Tool | None:
        return self._shown().get(name)

    def _config(self) -> ToolsetConfig | None:
        return self.config.toolsets.get(self.toolset or "")

    def _shown(self) -> dict[str, Tool]:
        """The toolset's tools by name, looked for once a revision of the registry."""
        revision = self.registry.revision
        if self._known[0] != revision:
            config = self._config()
            tools = () if config is None else self.registry
            shown = {tool.name: tool for tool in tools if config and config.has(tool.name, tool.config.tags)}
            self._known = (revision, shown)
        return self._known[1]


def view_of(runtime: Runtime, toolset: str | None = None) -> ServerView:
    """The view of ``toolset``, or of the whole server."""
    return ServerView(runtime) if toolset is None else ToolsetView(runtime, toolset)
