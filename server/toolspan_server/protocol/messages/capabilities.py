"""What the server says that it can do, in both eras."""

from __future__ import annotations

from typing import Any

from ...live.views import ServerView

TASKS = "io.modelcontextprotocol/tasks"
"""The extension by which calls become tasks (SEP-2663)."""

SKILLS = "io.modelcontextprotocol/skills"
"""The extension by which skills are listed (SEP-2640)."""


def capabilities(surface: ServerView, *, modern: bool) -> dict[str, Any]:
    """``ServerCapabilities``, as ``initialize`` and ``server/discover`` have them."""
    offered: dict[str, Any] = {"tools": {"listChanged": True}}
    if surface.resources is not None:
        offered["resources"] = {"subscribe": True, "listChanged": True}
    if surface.prompts is not None:
        offered["prompts"] = {"listChanged": True}
    if offers_completions(surface):
        offered["completions"] = {}
    if any(tool.talks for tool in surface.tools):
        offered["logging"] = {}
    if modern and supports_tasks(surface):
        offered["extensions"] = {TASKS: {}}
    if modern and surface.resources is not None and surface.resources.skills is not None:
        offered.setdefault("extensions", {})[SKILLS] = {"directoryRead": True}
    return offered


def offers_completions(surface: ServerView) -> bool:
    """Whether there is anything that a client may ask values for."""
    resources, prompts = surface.resources, surface.prompts
    return (resources is not None and bool(resources.templates)) or (
        prompts is not None and prompts.completable
    )


def supports_tasks(surface: ServerView) -> bool:
    """Whether a call of some tool may become a task."""
    return any(tool.config.task is not None for tool in surface.tools)
