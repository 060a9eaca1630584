"""``search_tools`` and ``call_tool``: how clients of a view reach tools that it does not list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, Self

from typing_extensions import override

from ...calls.content import ABSENT, Content
from ...calls.context import Context
from ...calls.results import ToolResult
from ...engines.parameters import Parameters
from ...errors import ToolFailure
from ...parts.environment import Environment
from ...parts.kind import Kind, KindConfig
from ...schema.constraints import OneOf
from ...schema.records import key
from ...tools.registry import Tool
from .index import ToolIndex

if TYPE_CHECKING:
    from ...config.models.aggregate import ToolSearchConfig

SEARCH = "search_tools"
CALL = "call_tool"
_MOST_FOUND = 50
_DAY_MS = 86_400_000
"""``call_tool`` has no time limit of its own: that of the tool holds, which stops while a person is asked."""

_FOUND = 8

_SEARCH_ABOUT = (
    "Find tools: there are more than those listed here. Give words for what a tool has to do. The tools that "
    "are found are described in the result; call one by its name, or with call_tool."
)
_CALL_ABOUT = "Call a tool that search_tools found, by its name, with the arguments that its schema wants."
_SEARCH_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "maxLength": 1_000, "description": "Words for what a tool has to do"},
        "limit": {"type": "integer", "minimum": 1, "maximum": _MOST_FOUND, "default": _FOUND},
    },
    "required": ["query"],
    "additionalProperties": False,
}
_CALL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "The tool's name"},
        "arguments": {"type": "object", "description": "Its arguments"},
    },
    "required": ["name"],
    "additionalProperties": False,
}

Find = Callable[[str], Tool | None]
Run = Callable[[Tool, Mapping[str, Any], Context], Any]
Settled = Callable[[], Awaitable["SearchedTools | None"]]


class SearchedTools:
    """The tools of a view, at one revision of the registry, of which few are listed: the two above, and those
    that ``config`` says. ``run`` runs one of them. ``settled`` waits until the sources have had their time to
    offer tools, and gives what stands in this one's place then, if tools are still searched. ``shadowed`` are
    the names of tools that cannot be reached, since they are those of the two."""

    def __init__(
        self, config: ToolSearchConfig, tools: Mapping[str, Tool], run: Run, settled: Settled
    ) -> None:
        self.shadowed = [name for name in tools if name.lower() in (SEARCH, CALL)]
        self._tools = {name: tool for name, tool in tools.items() if name not in self.shadowed}
        self._run = run
        self._settled = settled
        self._index: ToolIndex | None = None
        self.search = _tool(SEARCH, _SEARCH_ABOUT, _SEARCH_SCHEMA, self._search, 30_000, reads=True)
        self.call = _tool(CALL, _CALL_ABOUT, _CALL_SCHEMA, self._call, _DAY_MS, reads=False)
        chosen = [tool for name, tool in self._tools.items() if _matches(name, config.always)]
        self.listed = [self.search, self.call, *chosen]

    def own(self, name: str) -> Tool | None:
        """``search_tools`` or ``call_tool``."""
        return {SEARCH: self.search, CALL: self.call}.get(name)

    async def _search(self, arguments: Mapping[str, Any], _context: Context) -> Any:
        current = await self._settled() or self
        return current._found(arguments["query"], arguments.get("limit", _FOUND))

    def _found(self, query: str, most: int) -> dict[str, Any]:
        if self._index is None:
            self._index = ToolIndex(list(self._tools.values()))
        found = self._index.best(query, most)
        return {"tools": [_described(tool) for tool in found], "of": len(self._tools)}

    async def _call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        tool = self._tools.get(arguments["name"])
        if tool is None and (current := await self._settled()) is not None:
            tool = current._tools.get(arguments["name"])
        if tool is None:
            raise ToolFailure(
                f"Tool '{arguments['name'][:128]}' not found",
                error_code="tool_not_found",
                user_action=f"Find one with {SEARCH}, and give its name as it is written there.",
            )
        result: ToolResult = await self._run(tool, arguments.get("arguments", {}), context)
        if result.success:
            return _value(result)
        raise ToolFailure(
            result.error,
            error_code=result.error_code,
            user_action=result.user_action,
            content=result.content,
            upstream_status=result.upstream_status,
        )


class _Made(KindConfig):
    """The implementation of a tool that a view makes."""

    type: Annotated[str, OneOf(("view",))] = key(default="view")
    _kind: Kind

    @classmethod
    def of(cls, kind: Kind) -> Self:
        """The implementation by ``kind``."""
        made = cls()
        made._kind = kind
        return made

    @override
    def build(self, environment: Environment) -> Kind:
        return self._kind


class _OfView:
    """A kind that is a function."""

    talks = True
    passes_tasks = True

    def __init__(self, function: Callable[[Mapping[str, Any], Context], Any]) -> None:
        self._function = function

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        """What the function gives."""
        return await self._function(arguments, context)


def _tool(
    name: str, about: str, schema: dict[str, Any], function: Any, timeout_ms: int, *, reads: bool
) -> Tool:
    from ...config import ToolConfig

    kind = _OfView(function)
    config = ToolConfig.model_validate(
        {
            "name": name,
            "description": about,
            "parameters": schema,
            "implementation": _Made.of(kind),
            **({"annotations": {"read_only": True}} if reads else {}),
        }
    )
    return Tool(config, Parameters(schema), kind, timeout_ms)


def _value(result: ToolResult) -> Any:
    """What the tool gave, whole."""
    if result.content is None:
        return result.result
    return Content(result.content, result.result if result.has_value else ABSENT, result.meta or {})


def _matches(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def _described(tool: Tool) -> dict[str, Any]:
    """The tool as a model has to know it."""
    config = tool.config
    return {"name": config.name, "description": config.description, "inputSchema": config.parameters}
