"""Looks up and validates the tool calls of a reply."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..formats import get_format
from ..formats.names import NameTable
from ..messages import (
    Assistant,
    Reply,
    ToolCall,
    ToolOutcome,
    ToolSpec,
)
from ..toolbox import Toolbox
from ._arguments import Checker
from ._offer import Offer
from ._tool_search import SEARCH
from ._turn_calls import PendingCall, TurnCalls

MAX_CALLS_PER_TURN = 16
MAX_IDENTICAL_CALLS = 2
_SHOWN = 200
_REPEATED_ACTION = "Use the earlier result, change the arguments, or answer."


class ToolCallReader:
    """Reads the calls of one question, of what its ``offer`` allows; ``format_name`` is the wire format of
    the calls.
    """

    def __init__(self, offer: Offer, toolbox: Toolbox, format_name: str = "") -> None:
        self.stopped_a_repeat = False
        self._offer = offer
        self._every_name = NameTable.of(toolbox.tools)
        self._format = get_format(format_name) if format_name else None
        self._checker = Checker()
        self._made: Counter[str] = Counter()

    def turn(self, reply: Reply) -> TurnCalls:
        """The calls of ``reply``, each looked up and validated."""
        message = _with_own_ids(reply.message)
        pending = [self._take(call) for call in message.calls[:MAX_CALLS_PER_TURN]]
        for call in message.calls[MAX_CALLS_PER_TURN:]:
            pending.append(self._named(call))
            text = f"Only {MAX_CALLS_PER_TURN} calls are made in one turn; this one was not."
            pending[-1].refuse(
                text, "too_many_calls", "Call it again in the next turn if it is still needed."
            )
        if reply.stop == "length":
            text = "The reply was cut off within this call, so it was not made."
            pending[-1].refuse(text, "cut_off", "Send the call again, shorter.")
        return TurnCalls(message, pending, self._checker.faults, self._offer.conversation)

    def _take(self, call: ToolCall) -> PendingCall:
        pending = self._named(call)
        if pending.spec is None:
            self._refuse_unknown(pending, call.name)
        elif pending.arguments is None:
            why = call.malformed or "they are no JSON object"
            text = f"Invalid parameters: {why} (received: {call.raw[:_SHOWN]!r})"
            pending.refuse(text, "invalid_parameters", "Send the arguments as one JSON object.")
        elif self._is_repeat(pending.spec, pending.arguments):
            self.stopped_a_repeat = True
            text = f"'{pending.tool}' was already called {MAX_IDENTICAL_CALLS} times with the same arguments"
            pending.refuse(f"{text}; it was not called again.", "repeated_call", _REPEATED_ACTION)
        elif faults := self._checker.faults(pending.spec, pending.arguments):
            pending.refuse_arguments(faults)
        elif pending.spec.key == SEARCH.key:
            pending.outcome = self._searched(call.id, str(pending.arguments["query"]))
        return pending

    def _searched(self, call_id: str, query: str) -> ToolOutcome:
        began = time.perf_counter()
        result = self._offer.search(query)
        took = round((time.perf_counter() - began) * 1000, 3)
        return ToolOutcome(
            call_id,
            SEARCH.name,
            {"success": True, "result": result, "tool_name": SEARCH.name, "execution_time_ms": took},
        )

    def _named(self, call: ToolCall) -> PendingCall:
        spec = NameTable.of(self._offer.tools).called(call.name)
        if spec is None and self._offer.searches and (known := self._every_name.tool(call.name)):
            spec = known if known.key in self._offer.allowed and self._offer.add(known) else None
        if spec is not None and spec.key in self._offer.allowed:
            arguments = call.arguments
            if self._format is not None and arguments is not None:
                arguments = self._format.restore(spec, arguments)
            return PendingCall(call.id, spec.server, spec.name, arguments, spec)
        hidden = self._every_name.tool(call.name)
        return PendingCall(call.id, "", hidden.name if hidden else call.name[:_SHOWN], call.arguments)

    def _refuse_unknown(self, pending: PendingCall, wire_name: str) -> None:
        import difflib

        names = NameTable.of(self._offer.tools).as_dict()
        known = [name for name, key in names.items() if key in self._offer.allowed]
        near = difflib.get_close_matches(wire_name, known, n=3, cutoff=0.5) or known[:10]
        action = f"Call one of: {', '.join(near)}." if near else "Answer without tools: there are none."
        if self._every_name.tool(wire_name) is not None:
            pending.refuse(f"Tool '{pending.tool}' is not allowed here", "tool_not_allowed", action)
        else:
            pending.refuse(f"Tool '{pending.tool}' not found", "tool_not_found", action)

    def _is_repeat(self, spec: ToolSpec, arguments: Mapping[str, Any]) -> bool:
        signature = json.dumps([*spec.key, dict(arguments)], sort_keys=True, default=str)
        self._made[signature] += 1
        return self._made[signature] > MAX_IDENTICAL_CALLS


def _with_own_ids(message: Assistant) -> Assistant:
    """``message`` with a unique id for each call, where the model omitted ids or repeated one."""
    ids = [call.id for call in message.calls]
    if all(ids) and len(set(ids)) == len(ids):
        return message
    calls = tuple(replace(call, id=f"call_{number}") for number, call in enumerate(message.calls, start=1))
    return Assistant(message.text, calls, citations=message.citations)
