"""The calls that run, so that each result can be told whose it is."""

from __future__ import annotations

from ..output import compact

__all__ = ["OpenCalls"]

_WIDTH = 120


class OpenCalls:
    """The calls of a turn that have no result yet."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._several = False

    def start(self, call_id: str, text: str) -> None:
        """The call written ``text`` runs."""
        self._texts[call_id] = text
        self._several = self._several or len(self._texts) > 1

    def finish(self, call_id: str) -> str:
        """What its result is to begin with: the call where several ran at once, else nothing."""
        text = self._texts.pop(call_id, "")
        named = f"{compact(text, _WIDTH)}: " if self._several and text else ""
        self._several = self._several and bool(self._texts)
        return named
