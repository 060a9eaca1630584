"""What a hook is given, and what it may say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ...messages import Json

__all__ = ["Hook", "HookDecision", "HookFunction", "HookInput", "HookPoint"]

HookPoint = Literal["before_turn", "after_turn", "before_call", "after_call"]
"""When a hook runs: before a question is sent and after its answer, before a call (and before a person is
asked about it) and after it."""


@dataclass(frozen=True, slots=True)
class HookInput:
    """What a hook is given: of a turn the question's ``text`` and ``system`` prompt, and after it the
    answer's ``content``; of a call its ``server``, ``tool``, ``call_id`` and ``arguments``, and after it the
    tool result object (``result``). ``conversation`` is an id."""

    point: HookPoint
    model: str = ""
    conversation: str = ""
    text: str = ""
    system: str = ""
    content: str = ""
    server: str = ""
    tool: str = ""
    call_id: str = ""
    arguments: Mapping[str, Any] | None = None
    result: Mapping[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """What a tool is given as its arguments: ``{"point", "model", "conversation"}`` and what there is
        at that point of the others."""
        turn = ("text", "system") if self.point == "before_turn" else ("text", "content")
        call = ("server", "tool", "call_id", "arguments", "result")
        names = ("point", "model", "conversation", *(turn if self.point.endswith("turn") else call))
        found = {name: getattr(self, name) for name in names}
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class HookDecision:
    """What a hook says; ``None`` in place of it is nothing.

    ``deny`` is why the question is not asked, the call not made, or what came of it not shown. Otherwise what
    is given replaces what there was: ``text`` and ``system`` before a turn, ``content`` after it,
    ``arguments`` before a call, and ``result`` (any JSON) after one.
    """

    deny: str = ""
    text: str | None = None
    system: str | None = None
    content: str | None = None
    arguments: Mapping[str, Any] | None = None
    result: Json = None


HookFunction = Callable[[HookInput], "HookDecision | Awaitable[HookDecision | None] | None"]
"""A hook in Python; one that is not async runs in a thread."""


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook: a ``function``, or a ``tool`` (``server/name``), that runs at ``point``; of calls, for those of
    ``tools`` (globs of ``tool`` or ``server/tool``; ``None``: all).

    ``package`` is the installed package that brought it, if one did. It has ``seconds``; where it takes
    longer or fails, ``on_error`` says whether that denies, or is ignored.
    """

    name: str
    point: HookPoint
    function: HookFunction | None = None
    tool: str = ""
    tools: tuple[str, ...] | None = None
    seconds: float = 10.0
    on_error: Literal["deny", "ignore"] = "deny"
    package: str = ""
