"""Other MCP servers, as a client sees them: connected, listed, called, lost and connected again.

Whatever a server does, reading from it is bounded in time, size and count, and one server's trouble is no
other's. The SDK is imported when a connection is made.
"""

from __future__ import annotations

from ._attempt import paused_by, refuse, waiting_for_a_person
from ._connection import Connection
from ._listed_tool import Bounds, ListedTool, Listing, listed_tool
from ._listener import (
    Listener,
    RefusedQuestion,
    begin_call,
    within_call,
)
from ._results import (
    CallRefused,
    InputNeeded,
    InputResponses,
    NoResult,
    NotAuthorized,
    ServerGone,
    UpstreamResult,
    result_of,
)
from ._spec import Restarts, ServerFailure, ServerSpec, spec_of

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
    "NotAuthorized",
    "RefusedQuestion",
    "Restarts",
    "ServerFailure",
    "ServerGone",
    "ServerSpec",
    "UpstreamResult",
    "begin_call",
    "listed_tool",
    "paused_by",
    "refuse",
    "result_of",
    "spec_of",
    "waiting_for_a_person",
    "within_call",
]
