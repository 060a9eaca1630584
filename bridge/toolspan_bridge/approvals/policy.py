"""The policies: which calls a person has to allow, by the tool's own definition."""

from __future__ import annotations

from typing import Literal

from toolspan_server.common.tool_hints import may_destroy
from toolspan_server.engines.upstreams import ListedTool

from .sandbox import says_no_sandbox

Policy = Literal["never", "always", "destructive", "rules"]
"""``destructive``: tools that say that they need approval or are destructive, and those that change a
workspace. ``rules``: as the rules say, and what none of them covers as ``destructive``."""

OutwardPolicy = Literal["ask", "deny", "allow"]
"""What becomes of calls that would carry data outward after a secret or content from outside was read."""

WORKSPACE_TOOLS = frozenset({"Write", "Edit", "Bash", "NotebookEdit"})
"""Names that stand for changing files and running commands, whoever serves them."""

APPROVAL_META = "dev.toolspan/approval"
"""The key of a tool's ``_meta`` by which our own server says that each call needs approval."""


def asks_itself(tool: ListedTool) -> bool:
    """Whether the tool's server has each call approved, so that there has to be a decision about it."""
    return tool.meta.get(APPROVAL_META) is True


def reason_to_ask(tool: ListedTool, policy: Policy, *, typed: bool = False) -> str:
    """Why a call of ``tool`` needs approval under ``policy``; empty when it needs none.

    Of a call that the person ``typed``, that it changes something is no reason by itself.
    """
    if policy == "never":
        return ""
    if policy == "always":
        return "every call needs approval"
    if says_no_sandbox(tool):
        return "the tool runs commands without a sandbox"
    if asks_itself(tool):
        return "the tool is configured to need approval"
    if may_destroy(tool.annotations):
        if tool.annotations.get("destructiveHint") is True:
            return "the tool says that it may destroy or overwrite data"
        if not typed:
            return "the tool says that it changes something"
    if tool.name in WORKSPACE_TOOLS:
        return "the tool changes files or runs commands"
    return ""
