"""A command of the chat: a line that begins with ``/``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from .chat import Chat

Words = Callable[[Chat, tuple[str, ...], str], Awaitable[Iterable[str]]]
"""The words that may come next after those of a command that are there already; the last is how it begins."""


class Leave(Exception):
    """The chat ends."""


@dataclass(frozen=True, slots=True)
class Command:
    """``/name``, with what may follow it (``usage``) and one sentence of ``help``.

    ``run`` takes the chat and the text after the name. It raises ``BridgeError`` for what is wrong. ``words``
    are what Tab proposes after the name.
    """

    name: str
    usage: str
    help: str
    run: Callable[[Chat, str], Awaitable[None]]
    words: Words | None = None

    @property
    def written(self) -> str:
        """How it is written: ``/image FILE``."""
        return " ".join(filter(None, (f"/{self.name}", self.usage)))

    @property
    def line(self) -> str:
        """The same with what it does: ``/image FILE – goes with the next question``."""
        return f"{self.written} – {self.help}"
