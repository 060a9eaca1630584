"""Tool definitions of other servers, kept as hashes, so that a later change is noticed.

What is seen first is trusted; a later difference is reported, and nothing else is done about it. It goes
by the whole object that the server lists, not by what is shown of it.
"""

from __future__ import annotations

from ._changes import Change, compared
from ._fingerprints import Fingerprint, fingerprint
from ._lock_file import (
    LOCK_FILE,
    LOCK_MARK,
    LOCK_VERSION,
    LockedDefinitions,
    digest_of,
    locked_definitions,
)
from ._store import Definitions, DefinitionsFile

__all__ = [
    "LOCK_FILE",
    "LOCK_MARK",
    "LOCK_VERSION",
    "Change",
    "Definitions",
    "DefinitionsFile",
    "Fingerprint",
    "LockedDefinitions",
    "compared",
    "digest_of",
    "fingerprint",
    "locked_definitions",
]
