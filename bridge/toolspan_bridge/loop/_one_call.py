"""One call that no model asked for, approved and made as those of a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from ..approvals import Approver
from ..events import Event, ToolCallStarted
from ..messages import Assistant, ToolCall, ToolOutcome, ToolSpec
from ..toolbox import Toolbox
from ._arguments import Checker
from ._turn_calls import PendingCall, TurnCalls
from .hooks import Hook, HookRunner

_ID = "call"


async def called(
    toolbox: Toolbox,
    spec: ToolSpec,
    arguments: Mapping[str, Any],
    approver: Approver,
    tell: Callable[[Event], None] | None = None,
    hooks: Sequence[Hook] = (),
    conversation: str = "",
) -> ToolOutcome:
    """The outcome of a call of ``spec`` with ``arguments`` in ``conversation``, as ``approver`` decides about
    it. ``tell`` takes each event of the call; those of ``hooks`` that are of calls run before and after it.

    Raises what the approver raises; an error of the tool is an outcome.
    """
    call = ToolCall(_ID, spec.name, dict(arguments), json.dumps(dict(arguments)))
    pending = PendingCall(_ID, spec.server, spec.name, arguments, spec)
    if tell is not None:
        tell(ToolCallStarted(_ID, spec.server, spec.name, arguments, 1))
    turn = TurnCalls(Assistant(calls=(call,)), [pending], Checker().faults, conversation)
    runner = HookRunner(hooks, toolbox) if hooks else None
    made = turn.events(toolbox, approver, iteration=1, max_parallel=1, hooks=runner)
    async with aclosing(made) as events:
        async for event in events:
            if tell is not None:
                tell(event)
    return turn.outcomes()[0]
