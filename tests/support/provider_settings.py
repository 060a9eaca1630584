"""HTTP settings for tests: no real waiting and no real dice."""

from __future__ import annotations

from tests.support.waiting import BOUND_S
from toolspan_bridge.providers.http.settings import HttpSettings


def instant(
    waits: list[float] | None = None,
    *,
    read: float = BOUND_S,
    idle: float = BOUND_S,
    total: float = BOUND_S,
    max_bytes: int = 100_000,
) -> HttpSettings:
    """Settings whose waits are written into ``waits`` instead of being waited."""
    noted = waits if waits is not None else []

    async def note(seconds: float) -> None:
        noted.append(seconds)

    return HttpSettings(
        connect=BOUND_S,
        read=read,
        idle=idle,
        total=total,
        max_bytes=max_bytes,
        sleep=note,
        dice=lambda: 0.0,
    )
