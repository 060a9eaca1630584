"""One call that no model asked for, approved and made as those of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from ..approvals import Approver
from ..messages import Assistant, ToolCall, ToolOutcome, ToolSpec
from ..toolbox import Toolbox
from ._arguments import Checker
from ._turn_calls import PendingCall, TurnCalls

_ID = "call"


async def called(
    toolbox: Toolbox, spec: ToolSpec, arguments: Mapping[str, Any], approver: Approver
) -> ToolOutcome:
    """The outcome of a call of ``spec`` with ``arguments``, as ``approver`` decides about it.

    Raises what the approver raises; an error of the tool is an outcome.
    """
    call = ToolCall(_ID, spec.name, dict(arguments), json.dumps(dict(arguments)))
    pending = PendingCall(_ID, spec.server, spec.name, arguments, spec)
    turn = TurnCalls(Assistant(calls=(call,)), [pending], Checker().faults)
    async with aclosing(turn.events(toolbox, approver, iteration=1, max_parallel=1)) as events:
        async for _ in events:
            pass
    return turn.outcomes()[0]
