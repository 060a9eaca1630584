"""How a toolbox differs from all tools of its servers, called as they are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolspan_server.engines.upstreams import ListedTool

from ..client import Elicitor, Sampler
from ..messages import ToolOutcome, ToolSpec
from ._offered import Accepts, Reword
from .local import LocalFailure, LocalTool

Guard = Callable[[str, ListedTool], LocalFailure | None]
"""Why a server's tool may not be called now; ``None`` when it may."""
Make = Callable[[], Awaitable[ToolOutcome]]
Through = Callable[[ToolSpec, Mapping[str, Any], str, Make], Awaitable[ToolOutcome]]
"""What a tool's call, with its arguments and its id, goes through: it makes it, or gives another outcome."""


@dataclass(frozen=True, slots=True)
class Ways:
    """A tool that ``accepts`` says no to is none of the toolbox's; those whose names are among ``last`` stand
    after all others. ``guard`` is asked before each call; what may be called goes ``through``. Calls of the
    tools in ``stand_ins``, by server and name, are performed by these; ``elicitor`` and ``sampler`` answer
    what servers ask in calls, in place of those that they were connected with. Models see each tool as
    ``reword`` has it. Calls are made for ``principal``, whose state our own servers keep; they refuse calls
    of nobody (``None``).
    """

    accepts: Accepts | None = None
    guard: Guard | None = None
    through: Through | None = None
    last: Collection[str] = ()
    stand_ins: Mapping[tuple[str, str], LocalTool] = field(default_factory=dict[tuple[str, str], LocalTool])
    elicitor: Elicitor | None = None
    sampler: Sampler | None = None
    reword: Reword | None = None
    principal: str | None = None


USUAL = Ways()
"""All tools, called as they are."""
