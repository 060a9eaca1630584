"""Workspaces: folders in which tools may work, and nowhere else.

Every path is opened relative to a descriptor of the folder, so that neither ``..`` nor a link nor a folder
that is exchanged meanwhile leads out of it. This package knows files and limits, and nothing of tools or MCP.
"""

from __future__ import annotations

from ._changed import Changed, change, undo
from ._checkpoints import Change
from ._files import OpenFile
from ._limits import WorkspaceLimits
from ._names import quoted, unquoted
from ._paths import Place, Root
from ._protection import Protection
from ._seen import Fingerprint
from ._workspace import Workspace

__all__ = [
    "Change",
    "Changed",
    "Fingerprint",
    "OpenFile",
    "Place",
    "Protection",
    "Root",
    "Workspace",
    "WorkspaceLimits",
    "change",
    "quoted",
    "undo",
    "unquoted",
]
