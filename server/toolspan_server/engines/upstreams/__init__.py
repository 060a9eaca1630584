"""Other MCP servers, as a client sees them: connected, listed, called, lost and connected again.

Whatever a server does, reading from it is bounded in time, size and count, and one server's trouble is no
other's. The SDK is imported when a connection is made.
"""

from __future__ import annotations

from ._connection import Connection, Restarts
from ._listed_tool import Bounds, ListedTool
from ._listener import Listener, RefusedQuestion, begin_call
from ._listing import Listing
from ._results import (
    CallRefused,
    InputNeeded,
    InputResponses,
    NoResult,
    ServerGone,
    UpstreamResult,
)
from ._spec import ServerFailure, ServerSpec, spec_of

__all__ = [
    "Bounds",
    "CallRefused",
    "Connection",
    "InputNeeded",
    "InputResponses",
    "ListedTool",
    "Listener",
    "Listing",
    "NoResult",
    "RefusedQuestion",
    "Restarts",
    "ServerFailure",
    "ServerGone",
    "ServerSpec",
    "UpstreamResult",
    "begin_call",
    "spec_of",
]
