"""The tools of a toolbox as their servers list them now, by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from toolspan_server.engines.upstreams import ListedTool

from ..messages import ToolSpec
from .connection import ToolConnection
from .local import LOCAL_SERVER, LocalTool, local_spec

Accepts = Callable[[str, ListedTool], bool]
"""Whether a server's tool, as it is listed, is one of the toolbox's."""

Reword = Callable[[ToolSpec], ToolSpec]
"""A tool as models are to see it in place of how it is listed; its key stays."""

_Key = tuple[str, str]


class Offered:
    """The tools of ``connections`` and the ``local`` ones, but for those that ``accepts`` says no to; those
    whose own names are among ``last`` stand after all others, and each is as ``reword`` has it. They are read
    anew when a server has listed its tools again."""

    def __init__(
        self,
        connections: Iterable[ToolConnection],
        local: Mapping[str, LocalTool],
        accepts: Accepts | None,
        last: Collection[str] = (),
        reword: Reword | None = None,
    ) -> None:
        self._last = last
        self._reword: Reword = reword or (lambda tool: tool)
        self._connections = tuple(connections)
        self._local = local
        self._accepts = accepts
        self._versions: tuple[int, ...] | None = None
        self._tools: tuple[ToolSpec, ...] = ()
        self._definitions: dict[_Key, ListedTool] = {}
        self._own: tuple[ListedTool, ...] = ()

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools, sorted by server and name but for the last ones; the very same tuple as long as no list
        has changed."""
        self._renew()
        return self._tools

    @property
    def own(self) -> tuple[ListedTool, ...]:
        """Those of the tools that servers of our own list, as they list them."""
        self._renew()
        return self._own

    def definition(self, key: _Key) -> ListedTool | None:
        """The tool of a server as it is listed, whether it is accepted or not."""
        self._renew()
        return self._definitions.get(key)

    def _renew(self) -> None:
        versions = tuple(connection.version for connection in self._connections)
        if versions == self._versions:
            return
        self._versions = versions
        listed = [
            (spec, tool, connection.spec.own)
            for connection in self._connections
            for spec, tool in zip(connection.specs, connection.tools, strict=True)
        ]
        self._definitions = {spec.key: tool for spec, tool, _ in listed}
        self._definitions |= {(LOCAL_SERVER, name): tool.definition for name, tool in self._local.items()}
        tools = [spec for spec, tool, own in listed if self._is_offered(spec, tool, own=own)]
        tools += [local_spec(tool) for tool in self._local.values()]
        worded = [self._reword(tool) for tool in tools]
        placed = (replace(tool, late=1) if tool.name in self._last else tool for tool in worded)
        self._tools = tuple(sorted(placed, key=lambda tool: (tool.late, tool.key)))
        ours = {spec.key for spec, _, own in listed if own}
        self._own = tuple(self._definitions[tool.key] for tool in self._tools if tool.key in ours)

    def _is_offered(self, spec: ToolSpec, tool: ListedTool, *, own: bool) -> bool:
        performed_here = own and spec.name in self._local
        return not performed_here and (self._accepts is None or self._accepts(spec.server, tool))
