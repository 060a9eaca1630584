"""Answers that are given again, where the client asks for that: of the same request of the same principal."""

from __future__ import annotations

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ....conversation.message_json import message_data
from ....loop import Question
from ....messages import Message
from ....toolbox import Toolbox
from ..faults import RequestFault
from ..pieces import Finish, Piece, TextPiece, ThoughtPiece, Warned
from ..replies import Collected

__all__ = [
    "CACHE_HEADER",
    "MOST_BYTES",
    "MOST_ENTRIES",
    "CachedAnswer",
    "CachedAnswers",
    "Caching",
    "is_kept",
    "seconds_of",
]

CACHE_HEADER = "x-toolspan-cache"
"""Of a request: for how many seconds its answer is kept. Of an answer: ``hit``, ``miss`` or ``bypass``."""
_MOST_SECONDS = 86_400
MOST_ENTRIES = 2_000
"""The most answers that are kept."""
MOST_BYTES = 64 * 1024 * 1024
"""The most bytes that they may have."""
_BASE_BYTES = 512
_KEPT: tuple[Finish, ...] = ("stop", "stop_text", "length", "calls")
_OF_DELIVERY = ("stream", "stream_options")


def seconds_of(headers: Mapping[str, str], usual: int) -> int:
    """For how long the answer to a request with ``headers`` is kept; ``usual`` is what the config says.
    Raises ``RequestFault``."""
    written = headers.get(CACHE_HEADER)
    if written is None:
        return usual
    if not (written.isascii() and written.isdigit() and len(written) <= 6 and int(written) <= _MOST_SECONDS):
        raise RequestFault(f"{CACHE_HEADER} must be a number of seconds, 0 to {_MOST_SECONDS}")
    return int(written)


def is_kept(finish: Finish, calls: int) -> bool:
    """Whether an answer that ended by ``finish`` after so many ``calls`` of our tools is kept: what tools do
    and find may be another thing the next time."""
    return finish in _KEPT and not calls


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer as the client saw it, and its ``own_messages``, as the provider gave them, in the
    ``conversation`` of that id."""

    whole: Collected
    own_messages: tuple[Message, ...]
    conversation: str

    def pieces(self) -> Iterator[Piece]:
        """It as it came, a turn at a time."""
        yield from (Warned(text) for text in self.whole.warnings)
        for number, turn in enumerate(self.whole.turns):
            if turn.thoughts:
                yield ThoughtPiece(turn.thoughts, number)
            if turn.text:
                yield TextPiece(turn.text, number)
        yield self.whole.finished

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        said = sum(len(turn.text) + len(turn.thoughts) for turn in self.whole.turns)
        return _BASE_BYTES + said + sum(len(repr(message_data(each))) for each in self.own_messages)


@dataclass(frozen=True, slots=True)
class _Kept:
    answer: CachedAnswer
    size: int
    until: float


class CachedAnswers:
    """The answers of all principals; those that were not needed for longest give way. A changed config
    forgets all. ``clock`` never jumps."""

    def __init__(
        self,
        most: int = MOST_ENTRIES,
        most_bytes: int = MOST_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._bytes = 0
        self._generation = 0

    def find(self, key: str, generation: int) -> CachedAnswer | None:
        """The answer that is kept under ``key`` since the config's ``generation``."""
        self._follow(generation)
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept.until <= self._clock():
            self._forget(key)
            return None
        self._kept.move_to_end(key)
        return kept.answer

    def keep(self, key: str, generation: int, answer: CachedAnswer, seconds: float) -> None:
        """Keep ``answer`` for so long. One that was asked for before the config changed is not kept."""
        self._follow(generation)
        if generation < self._generation:
            return
        self._forget(key)
        self._kept[key] = _Kept(answer, answer.size, self._clock() + seconds)
        self._bytes += self._kept[key].size
        while self._kept and (len(self._kept) > self._most or self._bytes > self._most_bytes):
            self._forget(next(iter(self._kept)))

    def _follow(self, generation: int) -> None:
        if generation > self._generation:
            self._generation = generation
            self._kept.clear()
            self._bytes = 0

    def _forget(self, key: str) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._bytes -= kept.size


@dataclass(frozen=True, slots=True)
class Caching:
    """That the answer to ``body``, asked of the API at ``path`` by ``principal``, is kept for ``seconds`` in
    ``answers``."""

    answers: CachedAnswers
    path: str
    principal: str
    body: Any
    seconds: int

    def key(self, model: str, question: Question, toolbox: Toolbox) -> str:
        """What tells the request from others: all of it but how it is delivered, and that ``model`` answers
        ``question`` with the tools of ``toolbox``."""
        body = {name: value for name, value in self.body.items() if name not in _OF_DELIVERY}
        offered = sorted(tool.key for tool in toolbox.tools)
        who = (self.path, self.principal, model)
        told = [*who, body, question.system, question.allowed_tools, question.builtins, offered]
        written = json.dumps(told, sort_keys=True, default=str)
        return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()
