"""The server's capabilities, in both eras."""

from __future__ import annotations

from typing import Any

from ...live.views import View

TASKS = "io.modelcontextprotocol/tasks"
"""The extension by which calls become tasks (SEP-2663)."""

SKILLS = "io.modelcontextprotocol/skills"
"""The extension by which skills are listed (SEP-2640)."""


def capabilities(view: View, *, modern: bool) -> dict[str, Any]:
    """``ServerCapabilities``, as ``initialize`` and ``server/discover`` have them."""
    offered: dict[str, Any] = {"tools": {"listChanged": True}}
    if view.resources is not None:
        offered["resources"] = {"subscribe": True, "listChanged": True}
    if view.prompts is not None:
        offered["prompts"] = {"listChanged": True}
    if offers_completions(view):
        offered["completions"] = {}
    if view.config.aggregate is not None or any(tool.talks for tool in view.tools):
        offered["logging"] = {}
    if modern and supports_tasks(view):
        offered["extensions"] = {TASKS: {}}
    if modern and view.resources is not None and view.resources.skills is not None:
        offered.setdefault("extensions", {})[SKILLS] = {"directoryRead": True}
    return offered


def offers_completions(view: View) -> bool:
    """Whether there is anything that a client may ask values for."""
    resources, prompts = view.resources, view.prompts
    return (resources is not None and resources.completable) or (prompts is not None and prompts.completable)


def supports_tasks(view: View) -> bool:
    """Whether a call of some tool may become a task: an upstream may come to make one of it."""
    if view.config.aggregate is not None:
        return True
    return any(tool.config.task is not None or tool.passes_tasks for tool in view.tools)
