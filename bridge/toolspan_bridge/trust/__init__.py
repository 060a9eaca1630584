"""What a person can trust: definitions of tools as they were locked, names and texts that are what they seem,
and what a folder runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .baseline import Baseline
    from .drift import Drift, drifts
    from .lock_file import LOCK_FILE, Definitions, read_lock, write_lock
    from .shadowing import Shadows, shadow_notes

__all__ = [
    "LOCK_FILE",
    "Baseline",
    "Definitions",
    "Drift",
    "Shadows",
    "drifts",
    "read_lock",
    "shadow_notes",
    "write_lock",
]

_MODULES = {
    "Baseline": ".baseline",
    "Definitions": ".lock_file",
    "Drift": ".drift",
    "LOCK_FILE": ".lock_file",
    "Shadows": ".shadowing",
    "drifts": ".drift",
    "read_lock": ".lock_file",
    "shadow_notes": ".shadowing",
    "write_lock": ".lock_file",
}

if not TYPE_CHECKING:
    from toolspan_server.common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, _MODULES)
