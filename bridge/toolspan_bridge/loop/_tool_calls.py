"""Looks up and validates the tool calls of a reply."""

from __future__ import annotations

import time
from dataclasses import replace

from ..formats import called_tool
from ..formats.names import NameTable
from ..messages import (
    Assistant,
    Reply,
    ToolCall,
    ToolOutcome,
    ToolSpec,
)
from ..provenance.outward import Conversed
from ..toolbox import Toolbox
from ._arguments import Checker, no_faults
from ._offer import Offer
from ._tool_search import SEARCH
from ._turn_calls import PendingCall, TurnCalls
from .cycles import ROUNDS, Cycles
from .limits import LimitReached, Watch

MAX_CALLS_PER_TURN = 16
_FRUITLESS_TURNS = 5
"""After so many turns in a row of repeated calls alone, the model has to answer."""
_SHOWN = 200
_REPEATED_ACTION = "Use the earlier result, change the arguments, or answer."


class ToolCallReader:
    """Reads the calls of one question, of what its ``offer`` allows; ``format_name`` is the wire format of
    the calls. ``watch`` is told when there is to be no further turn with tools: the arguments were wrong in
    more than ``repair_attempts`` turns, or calls were only repeated. With ``returns_malformed`` the caller
    gets calls of its own tools whose arguments are no JSON object. ``conversed`` knows what the conversation
    holds.
    """

    def __init__(
        self,
        offer: Offer,
        toolbox: Toolbox,
        watch: Watch,
        repair_attempts: int,
        format_name: str = "",
        *,
        conversed: Conversed | None = None,
        checks_arguments: bool = True,
        returns_malformed: bool = False,
    ) -> None:
        self._watch = watch
        self._conversed = conversed
        self._repairs_left = self._repair_attempts = repair_attempts
        self._fruitless = 0
        self._cycles = Cycles()
        self._offer = offer
        self._returns_malformed = returns_malformed
        self._toolbox = toolbox
        self._format_name = format_name
        self._faults = Checker().faults if checks_arguments else no_faults

    @property
    def _every_name(self) -> NameTable:
        return NameTable.of(self._toolbox.tools)

    @property
    def only_repeated(self) -> bool:
        """Whether the calls of the last turn were none but repeated ones."""
        return self._fruitless > 0

    @property
    def stopped_a_repeat(self) -> bool:
        """Whether a call was not made because it only repeated earlier ones."""
        return self._cycles.found

    def turn(self, reply: Reply) -> TurnCalls:
        """The calls of ``reply``, each looked up and validated."""
        message = _with_own_ids(reply.message)
        pending = [self._take(call) for call in message.calls[:MAX_CALLS_PER_TURN]]
        for call in message.calls[MAX_CALLS_PER_TURN:]:
            pending.append(self._named(call))
            if pending[-1].returned:
                continue
            text = f"Only {MAX_CALLS_PER_TURN} calls are made in one turn; this one was not."
            pending[-1].refuse(
                text, "too_many_calls", "Call it again in the next turn if it is still needed."
            )
        if reply.stop in ("length", "context") and not pending[-1].returned:
            text = "The reply was cut off within this call, so it was not made."
            pending[-1].refuse(text, "cut_off", "Send the call again, shorter.")
        self._judge(pending)
        return TurnCalls(message, pending, self._faults, self._offer.conversation, self._conversed)

    def ended(self, turn: TurnCalls) -> None:
        """Note what came of the calls of ``turn``."""
        for outcome in turn.outcomes():
            self._cycles.ended(outcome)

    def _judge(self, pending: list[PendingCall]) -> None:
        """Let the next turn be the last one, where those of the model bring nothing."""
        codes = [call.outcome.result.get("error_code") if call.outcome else None for call in pending]
        self._repairs_left -= "invalid_parameters" in codes
        self._fruitless = self._fruitless + 1 if set(codes) == {"repeated_call"} else 0
        if self._repairs_left < 0:
            self._watch.close("repair_attempts", self._repair_attempts)
        elif self._fruitless >= _FRUITLESS_TURNS:
            self._watch.close("repeats", ROUNDS)

    def _take(self, call: ToolCall) -> PendingCall:
        pending = self._named(call)
        if pending.returned:
            pass
        elif pending.spec is None:
            self._refuse_unknown(pending, call.name)
        elif pending.arguments is None:
            why = call.malformed or "they are no JSON object"
            text = f"Invalid parameters: {why} (received: {call.raw[:_SHOWN]!r})"
            pending.refuse(text, "invalid_parameters", "Send the arguments as one JSON object.")
        elif faults := self._faults(pending.spec, pending.arguments):
            pending.refuse_arguments(faults)
        elif self._cycles.stops(pending.spec, pending.arguments, pending.id):
            text = f"'{pending.tool}' was already called {ROUNDS} times with the same arguments"
            pending.refuse(f"{text}; it was not called again.", "repeated_call", _REPEATED_ACTION)
        elif reached := self._watch.takes_call():
            _refuse_beyond(pending, reached)
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
            marks=(),
        )

    def _named(self, call: ToolCall) -> PendingCall:
        meant = called_tool(call, self._offer.tools, self._format_name)
        if meant is None and self._offer.searches and (known := self._every_name.called(call.name)):
            added = known.key in self._offer.allowed and self._offer.add(known)
            meant = called_tool(call, self._offer.tools, self._format_name) if added else None
        if meant is not None and meant[0].key in self._offer.allowed:
            spec, arguments = meant
            returned = spec.key in self._offer.returned and self._readable(call)
            return PendingCall(
                call.id, spec.server, spec.name, arguments, spec, returned=returned, raw=call.raw
            )
        hidden = self._hidden(call.name)
        if hidden is None and self._offer.only_returns and call.name and self._readable(call):
            return PendingCall(call.id, "", call.name, call.arguments, returned=True, raw=call.raw)
        return PendingCall(call.id, "", hidden.name if hidden else call.name[:_SHOWN], call.arguments)

    def _readable(self, call: ToolCall) -> bool:
        """Whether the caller can read the arguments of ``call``."""
        return call.arguments is not None or self._returns_malformed

    def _hidden(self, wire_name: str) -> ToolSpec | None:
        """The tool of that name that a server has, though it may not be called here."""
        offered = NameTable.of(self._offer.tools).called(wire_name)
        if offered is not None and (offered.key in self._offer.returned or self._toolbox.lists(offered)):
            return offered
        return self._every_name.called(wire_name)

    def _refuse_unknown(self, pending: PendingCall, wire_name: str) -> None:
        import difflib

        names = NameTable.of(self._offer.tools).as_dict()
        known = [name for name, key in names.items() if key in self._offer.allowed]
        near = difflib.get_close_matches(wire_name, known, n=3, cutoff=0.5) or known[:10]
        action = f"Call one of: {', '.join(near)}." if near else "Answer without tools: there are none."
        if self._hidden(wire_name) is not None:
            pending.refuse(f"Tool '{pending.tool}' is not allowed here", "tool_not_allowed", action)
        else:
            pending.refuse(f"Tool '{pending.tool}' not found", "tool_not_found", action)


def _refuse_beyond(pending: PendingCall, reached: LimitReached) -> None:
    text = f"{reached.what} This call was not made."
    pending.refuse(text, "too_many_calls", "Answer with what you have.")


def _with_own_ids(message: Assistant) -> Assistant:
    """``message`` with a unique id for each call, where the model omitted ids or repeated one."""
    ids = [call.id for call in message.calls]
    if all(ids) and len(set(ids)) == len(ids):
        return message
    calls = tuple(replace(call, id=f"call_{number}") for number, call in enumerate(message.calls, start=1))
    return Assistant(message.text, calls, citations=message.citations)
