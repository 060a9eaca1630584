"""A text that comes in pieces. ``+=`` on an attribute copies all that came before, with every piece."""

from __future__ import annotations


class GatheredText:
    """The pieces of a text, joined when it is read; true once it is not empty."""

    __slots__ = ("_pieces",)

    def __init__(self, text: str = "") -> None:
        self._pieces = [text] if text else []

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def add(self, piece: str) -> None:
        """Append ``piece``."""
        if piece:
            self._pieces.append(piece)

    @property
    def text(self) -> str:
        """The whole text so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""
