"""``Task``: a sub-agent, which works on its own and gives its answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ....calls.content import Content
from ....calls.context import Context
from ....engines.registration import handler
from ..workspace._tool import SERVICE, Definition, references
from ._task_options import TaskOptions

if TYPE_CHECKING:
    from ...services._workspaces import Workspaces

_SPARE_MS = 30_000
_LONGEST_MS = 3_600_000


async def _describe(definition: Definition, workspaces: Workspaces, name: str) -> Definition:
    """Give it as much time as sub-agents have."""
    del name
    milliseconds = round(workspaces.subagents.seconds * 1000) + _SPARE_MS
    return replace(definition, timeout_ms=min(milliseconds, _LONGEST_MS))


DEFINITION = Definition(
    name="Task",
    description=(
        "Give a task to a sub-agent: the same model in a conversation of its own, which sees nothing of this "
        "one. Only its answer comes back, so it suits searches through much text, and work in several parts "
        "side by side. It may call tools that only read, unless tools says which others."
    ),
    properties={
        "description": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "The task in three to five words, for the person",
        },
        "prompt": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100_000,
            "description": "The whole task: what is known, what to do, and what to answer",
        },
        "tools": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": 200},
            "minItems": 1,
            "maxItems": 100,
            "description": "The tools that it may call: names, or globs such as Note*; those that only read "
            "without this",
        },
    },
    required=("description", "prompt"),
    describe=_describe,
    calls_others=True,
    tags=("client:Task", "main-agent"),
)


@handler("Task", kind="internal", options=TaskOptions, references=references, talks=True)
async def task(arguments: dict[str, Any], context: Context) -> Content:
    """``{"description", "prompt", "tools"?}`` → ``{"answer", "calls", "iterations"}``, and ``"stopped"``, the
    limit that ended it, where one did."""
    from ._sampled import SampledAgent
    from ._sampled_tools import sampled_tools

    workspaces: Workspaces = context.service(SERVICE)
    options = cast("TaskOptions", context.options)
    tools = await sampled_tools(options, workspaces, arguments.get("tools"))
    return await SampledAgent(arguments, context, workspaces.subagents, tools).run()
