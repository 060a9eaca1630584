"""What a scenario is made of: what the model says, and what must come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolspan_bridge.messages import Message

from ._tool import Tool
from .tools import TOOLS


@dataclass(frozen=True)
class Thought:
    """What the model lets be seen of its thinking."""

    text: str


@dataclass(frozen=True)
class Call:
    """A call of ``tool`` (``server/tool`` for servers but ``s``). The model writes ``arguments`` as it was
    shown them; a string stands for what is no JSON object.

    ``gets`` is ``ok``, the code of the error that it must come to, or ``cut`` for one that is not taken at
    all; ``means`` is what the tool must get where that is not ``arguments``. An ``id`` of ``""`` is one as
    the provider makes them, ``None`` is left out where the provider may do so. ``wire`` is written instead
    of the tool's wire name.
    """

    tool: str
    arguments: Any = field(default_factory=dict[str, Any])
    gets: str = "ok"
    means: Any = None
    id: str | None = ""
    wire: str = ""

    @property
    def key(self) -> tuple[str, str]:
        server, slash, name = self.tool.partition("/")
        return (server, name) if slash else ("s", server)

    @property
    def reaches(self) -> bool:
        """Whether its tool is called at all."""
        return self.gets in ("ok", "tool_error", "timeout", "server_unavailable")


Said = str | Thought | Call


@dataclass(frozen=True, init=False)
class Turn:
    """One turn of the model: what it says, in order. The request before it must hold every text of ``sees``
    and none of ``misses``."""

    said: tuple[Said, ...]
    stop: str
    sees: tuple[str, ...]
    misses: tuple[str, ...]

    def __init__(
        self, *said: Said, stop: str = "stop", sees: tuple[str, ...] = (), misses: tuple[str, ...] = ()
    ) -> None:
        for name, value in (("said", said), ("stop", stop), ("sees", sees), ("misses", misses)):
            object.__setattr__(self, name, value)

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(each for each in self.said if isinstance(each, Call))

    @property
    def text(self) -> str:
        return "".join(each for each in self.said if isinstance(each, str))


@dataclass(frozen=True)
class Round:
    """A question of the person, the turns until its answer, and the answer (else the last turn's text)."""

    turns: tuple[Turn, ...]
    question: str = "What now?"
    answer: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    notice: str = ""
    flags: frozenset[str] = frozenset()

    @property
    def expected(self) -> str:
        return self.turns[-1].text if self.answer is None else self.answer


@dataclass(frozen=True)
class Scenario:
    """A conversation of one or more rounds over some tools, after ``history``."""

    rounds: tuple[Round, ...]
    tools: tuple[Tool, ...]
    history: tuple[Message, ...] = ()


def asked(
    *turns: Turn, tools: tuple[Tool, ...] = TOOLS, history: tuple[Message, ...] = (), **about: Any
) -> Scenario:
    """A scenario of one question; ``about`` are the further fields of its ``Round``."""
    return Scenario((Round(turns, **about),), tools, history)


def called(call: Call, *tools: Tool, sees: tuple[str, ...] = (), **about: Any) -> Scenario:
    """One call and then an answer, which must have seen ``sees``."""
    return asked(Turn(call), Turn("So it is.", sees=sees), tools=tools or TOOLS, **about)
