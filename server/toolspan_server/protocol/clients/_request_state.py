"""The seal on ``requestState``, which a client carries from one round of a call to the next."""

from __future__ import annotations

from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

from ...live.views import ServerView
from ..state.state_key import ephemeral_key
from ._principal import principal
from ._round_trips import STATE_S


def sealing(view: ServerView) -> RequestStateBoundary:
    """What seals each state and lets in none that was changed, is old, or belongs to another request.

    It is bound to the method, the tool and its arguments, the principal and the endpoint (MCP
    2026-07-28, basic/patterns/mrtr). The key is the config's ``request_state_key``; without one, it is made
    by this process, and shared by its workers.
    """
    key = view.config.request_state_key or ephemeral_key()
    security = RequestStateSecurity(keys=[key], ttl=STATE_S, bind_principal=principal)
    return RequestStateBoundary(security, default_audience=f"{view.name}/{view.toolset or ''}")
