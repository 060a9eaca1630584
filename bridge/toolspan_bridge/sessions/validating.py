"""What puts a validation's scenarios to models with the tools of a session."""

from __future__ import annotations

from ..approvals import PolicyApprover
from ..messages import ReasoningEffort
from ..providers.http.rate_limits import RateLimiters
from ..providers.http.settings import HttpSettings
from ..validation import Asker
from ..validation.between import NOTHING_BETWEEN, Between
from .host import Host
from .session import Session

__all__ = ["asker_of"]

_CONNECTIONS = 1_000


def asker_of(
    session: Session,
    host: Host,
    reasoning: ReasoningEffort | None,
    limiters: RateLimiters,
    between: Between = NOTHING_BETWEEN,
    *,
    unchosen: bool = False,
) -> Asker:
    """What puts scenarios to models with the tools of ``session``; ``host`` is told and asked, requests are
    held back by ``limiters``. ``unchosen``: whatever wording and rendering were chosen before."""
    return Asker(
        session.config,
        session.toolbox,
        reasoning=reasoning,
        on_note=host.note,
        approver=PolicyApprover(departure_of=session.baseline.departure),
        between=between,
        unchosen=unchosen,
        settings=HttpSettings(connections=_CONNECTIONS, idle_connections=_CONNECTIONS, limiters=limiters),
    )
