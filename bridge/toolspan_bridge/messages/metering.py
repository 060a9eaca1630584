"""The interface by which whoever pays for a request follows each attempt to send it."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Meter"]


class Meter(Protocol):
    """Follows the attempts of one request. An attempt that follows another one which ``cost_nothing`` was not
    called for means that the earlier one may have been paid."""

    async def sends(self, body: bytes, most_output: int | None) -> None:
        """An attempt begins with ``body``, which tells the provider to write ``most_output`` tokens at most;
        ``None`` is no limit. Raises ``BridgeError`` where it may not be made."""
        ...

    def cost_nothing(self) -> None:
        """The attempt was refused by the provider, or did not reach it."""
        ...
