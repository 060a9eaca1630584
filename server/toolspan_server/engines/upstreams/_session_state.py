"""How one session with a server stands."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from ._spec import ServerFailure
    from ._upstream_session import UpstreamSession
    from .child.process import Child


class SessionState:
    """The state of one session. ``ended`` is set once ``failure`` is known."""

    def __init__(self) -> None:
        self.up = anyio.Event()
        self.lost = anyio.Event()
        self.ended = anyio.Event()
        self.over = anyio.Event()
        """Set once there is another session in its place, or none will be."""
        self.child: Child | None = None
        self.transport: UpstreamSession | None = None
        self.session: Any = None
        self.failure: ServerFailure | None = None
        self.up_since = math.inf
        self.refusal = ""
