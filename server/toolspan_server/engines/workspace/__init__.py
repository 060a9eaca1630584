"""Workspaces: folders in which tools may work, and nowhere else.

Every path is opened relative to a descriptor of the folder, so that neither ``..`` nor a link nor a folder
that is exchanged meanwhile leads out of it. This package knows files and limits, and nothing of tools or MCP.
"""

from __future__ import annotations

from ._limits import WorkspaceLimits
from ._workspace import Workspace
from .keeping.changed import Changed, change, foresee, undo
from .keeping.checkpoints import Change
from .keeping.seen import Fingerprint
from .opening.denial import PathRule
from .opening.files import OpenFile
from .opening.paths import Place, Root, real_path
from .opening.protection import Protection

__all__ = [
    "Change",
    "Changed",
    "Fingerprint",
    "OpenFile",
    "PathRule",
    "Place",
    "Protection",
    "Root",
    "Workspace",
    "WorkspaceLimits",
    "change",
    "foresee",
    "real_path",
    "undo",
]
