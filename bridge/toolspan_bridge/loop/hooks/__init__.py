"""Hooks: programs and tools of one's own that look at questions and calls, change and deny them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .check import hook_faults
    from .contract import Hook, HookDecision, HookInput, HookPoint
    from .load import hooks_of, installed_hooks
    from .running import Consulted, HookRunner

__all__ = [
    "Consulted",
    "Hook",
    "HookDecision",
    "HookInput",
    "HookPoint",
    "HookRunner",
    "hook_faults",
    "hooks_of",
    "installed_hooks",
]

_MODULES = {
    "Consulted": ".running",
    "Hook": ".contract",
    "HookDecision": ".contract",
    "HookInput": ".contract",
    "HookPoint": ".contract",
    "HookRunner": ".running",
    "hook_faults": ".check",
    "hooks_of": ".load",
    "installed_hooks": ".load",
}

if not TYPE_CHECKING:
    from toolspan_server.common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, _MODULES)
