"""What the API says of a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from ..endpoint import Answer

if TYPE_CHECKING:
    from toolspan_server.config import Config

    from ...messages import ToolSpec
    from ...toolbox import Toolbox


class Implementation(Answer):
    """How a tool is made."""

    type: str = Field(description="The kind of a tool of the config; mcp for a tool of another MCP server.")


class ToolInfo(Answer):
    """A tool, as its server lists it."""

    name: str
    description: str
    parameters: dict[str, Any] = Field(description="The JSON Schema of its arguments.")
    implementation: Implementation
    display_name: str
    category: str | None
    is_builtin: bool = Field(description="Whether a provider performs it itself, as web_search.")
    server: str
    output_schema: dict[str, Any] | None
    annotations: dict[str, Any] = Field(description="The hints of its server, as destructiveHint.")
    tags: list[str]
    examples: list[dict[str, Any]]


def tool_info(config: Config, toolbox: Toolbox, tool: ToolSpec) -> ToolInfo:
    """What is known of ``tool``: a tool of the config itself has more."""
    listed = toolbox.definition(tool)
    own = None
    if toolbox.is_own(tool.server):
        own = next((each for each in config.tools.registry if each.name == tool.name), None)
    title = listed.details.get("title") or listed.annotations.get("title")
    return ToolInfo(
        name=tool.name,
        description=tool.description,
        parameters=dict(tool.schema),
        implementation=Implementation(type="mcp" if own is None else own.implementation.type),
        display_name=_shown(own and (own.title or own.display_name), title, tool.name),
        category=own.category if own is not None else None,
        is_builtin=False,
        server=tool.server,
        output_schema=None if tool.output_schema is None else dict(tool.output_schema),
        annotations=dict(listed.annotations),
        tags=list(listed.tags),
        examples=[] if own is None else [dict(each.arguments) for each in own.examples],
    )


def _shown(*names: object) -> str:
    """The first of ``names`` that is a text; a server may give anything as a title."""
    return next(name for name in names if isinstance(name, str) and name)
