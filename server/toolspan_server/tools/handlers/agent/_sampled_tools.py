"""The tools that a sub-agent may call, as a request for sampling lists them."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ....errors import InvalidParameters
from ..workspace._definitions import definitions

if TYPE_CHECKING:
    from ...services._workspaces import Workspaces
    from ..workspace._tool import Definition
    from ._task_options import TaskOptions

MAIN_AGENT = "main-agent"
"""The tag of tools that a sub-agent is not given."""


async def sampled_tools(
    options: TaskOptions, workspaces: Workspaces, globs: Sequence[str] | None
) -> list[dict[str, Any]]:
    """``[{"name", "description", "inputSchema"}]`` of the tools that ``globs`` name, else of those that only
    read. Raises ``InvalidParameters`` when ``globs`` name none."""
    offered = [each for each in definitions() if each.name in options.tools and _may_be_given(each)]
    wanted = [each for each in offered if _is_wanted(each, options.prefix, globs)]
    if globs is not None and not wanted:
        names = ", ".join(options.prefix + each.name for each in offered)
        raise InvalidParameters([f"tools: none is called {', '.join(globs)} (there are {names})"])
    return [await _listed(each, options, workspaces) for each in wanted]


def _may_be_given(definition: Definition) -> bool:
    return not definition.for_people and MAIN_AGENT not in definition.tags


def _is_wanted(definition: Definition, prefix: str, globs: Sequence[str] | None) -> bool:
    if globs is None:
        return definition.read_only
    names = (definition.name, prefix + definition.name)
    return any(fnmatchcase(name, glob) for name in names for glob in globs)


async def _listed(definition: Definition, options: TaskOptions, workspaces: Workspaces) -> dict[str, Any]:
    if definition.describe is not None:
        definition = await definition.describe(definition, workspaces, options.workspace)
    return {
        "name": options.prefix + definition.name,
        "description": definition.description,
        "inputSchema": definition.parameters,
    }
