"""Routes: the ``responses`` rules of a config. The first that matches a message says which model answers it,
with which prompt and tools."""

from __future__ import annotations

from .builtins import check_builtins, unknown_builtins
from .collections import Documents, Passages
from .matching import Route, route, toolless_notes, unknown_tools, unmatched, web_search_options
from .profile import Profile, profile_of
from .prompt import PromptValues, previous_text, system_text

__all__ = [
    "Documents",
    "Passages",
    "Profile",
    "PromptValues",
    "Route",
    "check_builtins",
    "previous_text",
    "profile_of",
    "route",
    "system_text",
    "toolless_notes",
    "unknown_builtins",
    "unknown_tools",
    "unmatched",
    "web_search_options",
]
