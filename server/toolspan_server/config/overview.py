"""A summary of a config's contents, for people."""

from __future__ import annotations

from .models.config import Config

_PHRASES = {
    "tools": ("{} tool", "{} tools"),
    "sources": ("tools of {} source", "tools of {} sources"),
    "resources": ("{} resource", "{} resources"),
    "resource_templates": ("{} resource template", "{} resource templates"),
    "prompts": ("{} prompt", "{} prompts"),
    "skills": ("skills of {} folder", "skills of {} folders"),
    "toolsets": ("{} toolset", "{} toolsets"),
    "mcp_servers": ("{} MCP server", "{} MCP servers"),
}


def contents(config: Config) -> dict[str, list[str]]:
    """The contents of ``config``, by type and name: ``{"tools": ["get_weather"], …}``.

    ``sources`` are named by their type: only a running server knows their tools.
    """
    return {
        "tools": [tool.name for tool in config.tools.registry],
        "sources": [source.type for source in config.tools.sources],
        "resources": [resource.uri for resource in config.resources],
        "resource_templates": [template.uri_template for template in config.resource_templates],
        "prompts": [prompt.name for prompt in config.prompts],
        "skills": [] if config.skills is None else [config.skills],
        "toolsets": list(config.toolsets),
        "mcp_servers": sorted(config.mcp_servers),
    }


def is_empty(config: Config) -> bool:
    """Whether ``config`` has nothing that a server can offer."""
    offered = contents(config)
    tools = config.tools.enabled and bool(offered["tools"] or offered["sources"])
    return not (
        tools or any(offered[sort] for sort in ("resources", "resource_templates", "prompts", "skills"))
    )


def offer(config: Config, toolset: str | None = None) -> str:
    """What a server of ``config``, or of one ``toolset``, offers, such as ``2 tools, 1 prompt``."""
    there = contents(config)
    del there["mcp_servers"]
    if not config.tools.enabled:
        there["tools"], there["sources"] = [], []
    of = ""
    if toolset is not None:
        of, chosen = f" of toolset {toolset}", config.toolsets[toolset]
        tags = {tool.name: tool.tags for tool in config.tools.registry}
        there["tools"] = [name for name in there["tools"] if chosen.has(name, tags[name])]
        del there["toolsets"]
    tools = there.pop("tools")
    parts = [counted(sort, len(names)) for sort, names in there.items() if names]
    if tools or of or not parts:
        parts.insert(0, counted("tools", len(tools)) + of)
    return ", ".join(parts)


def counted(sort: str, count: int) -> str:
    """A count such as ``3 resources``, for a key of ``contents``."""
    return _PHRASES[sort][count != 1].format(count)
