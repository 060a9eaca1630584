"""Tools of a config that run commands: a person is asked before each where no sandbox confines them."""

from __future__ import annotations

from typing import Any

from ..config import Config, ToolConfig

_HANDLER = "Bash"
_WITHOUT_SANDBOX = ("sandbox:none", "network:on")


def asking_without_sandbox(tool: ToolConfig, config: Config) -> ToolConfig:
    """``tool``; with an approval, whatever it says of itself, where it runs commands that nothing confines.

    Its tags then say so to clients, as those of the tools of a workspace do. Looks for a sandbox, once, where
    a tool of the config runs commands.
    """
    implementation: Any = tool.implementation
    if implementation.type != "internal" or implementation.handler != _HANDLER or _is_confined(tool, config):
        return tool
    from ..config.models.tool_options import AnnotationsConfig, ApprovalConfig

    said = tool.annotations or AnnotationsConfig.initial()
    annotations = said.model_copy(update={"read_only": False, "destructive": True})
    tags = (*(tag for tag in tool.tags if not tag.startswith(("sandbox:", "network:"))), *_WITHOUT_SANDBOX)
    approval = tool.approval or ApprovalConfig.initial()
    return tool.model_copy(update={"annotations": annotations, "tags": tags, "approval": approval})


def _is_confined(tool: ToolConfig, config: Config) -> bool:
    implementation: Any = tool.implementation
    name: Any = getattr(implementation.options, "workspace", None)
    workspace: Any = config.services.entries("workspaces").get(name)
    mode = None if workspace is None else workspace.bash.sandbox
    if mode in (None, "off"):
        return False
    if mode == "required":
        return True
    from ..engines.sandbox._choice import choice

    return choice().confinement is not None
