"""What tools keep from call to call: a file or a row for each user, conversation and tool.

Whatever ends the process, a document is as it was before a change or as it is after it.
"""

from __future__ import annotations

from ._files import FileStore
from ._limits import StorageLimits
from ._sql import SqlStore

__all__ = ["FileStore", "SqlStore", "StorageLimits"]
