"""The calls of one turn, run: approved first where they need it, side by side, each with one outcome."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectSendStream

from ..approvals import Approval, ApprovalRequest, Approver, find_reason
from ..events import (
    Event,
    ToolApprovalAnswer,
    ToolApprovalRequest,
    ToolCallFinished,
)
from ..messages import Assistant, Mark, Part, ToolCall, ToolOutcome, ToolSpec
from ..provenance.outward import LOCAL, Conversed, MadeCall, found_marks, traces_of, waits_for
from ..provenance.secrets import secret_names
from ..toolbox import Toolbox
from ..toolbox.outcomes import failed
from ..toolbox.reports import CallReport
from ._reported import reported
from .budget.results import READ_RESULT, shortened
from .hooks.contract import HookInput, HookPoint
from .hooks.running import HookRunner
from .limits.clock import Clock

DENIED = "Tool execution denied by user"
_DENIED_ACTION = "Do not call it again unless the user asks for it."
_CANCELLED_ACTION = "Ask again to have it made."
_TIME_UP = "The time for this question was up; the call was cancelled."
_CORRECT_ACTION = "Correct the named parameters and call the tool again."

CheckArguments = Callable[[ToolSpec, Mapping[str, Any]], Sequence[str]]
"""What is wrong with arguments of a tool, a text each."""


@dataclass(slots=True)
class PendingCall:
    """A call that the model requested. Without an ``outcome`` it has not been run yet. ``changed``: its
    arguments are those of a hook. ``returned``: it is of a tool of the caller's own, and never run here.
    ``made``: it was begun, whatever came of it. ``raw`` are the arguments as the model wrote them."""

    id: str
    server: str
    tool: str
    arguments: Mapping[str, Any] | None
    spec: ToolSpec | None = None
    outcome: ToolOutcome | None = None
    changed: bool = False
    returned: bool = False
    made: bool = False
    raw: str = ""

    @property
    def unmade(self) -> bool:
        """Whether it is still to be made here."""
        return self.outcome is None and not self.returned

    def refuse(self, error: str, error_code: str, user_action: str) -> None:
        """Give the call a failed outcome, so that it is not run."""
        outcome = failed(self.id, self.tool, error, error_code, user_action)
        named = secret_names(self.arguments) if self.made else ()
        self.outcome = replace(outcome, marks=tuple(Mark("secret", what) for what in named))

    def refuse_arguments(self, faults: Sequence[str]) -> None:
        """Give the call the outcome of arguments with ``faults``."""
        self.refuse("Invalid parameters: " + ", ".join(faults), "invalid_parameters", _CORRECT_ACTION)


def _written(call: PendingCall) -> str:
    if call.arguments is None:
        return call.raw
    return json.dumps(dict(call.arguments), ensure_ascii=False)


class TurnCalls:
    """One turn's calls, in order, and the ``message`` that holds them under the same ids.
    ``conversation`` is the id of the one that they belong to, and ``conversed`` knows what it holds.

    ``max_parallel`` of them run at the same time. A tool that says that it is not idempotent, or that its
    calls are to be sequential, runs alone: what was requested before it has ended, what comes after waits.
    One that reaches outside waits for those before it that may leave something here which it could send.
    """

    def __init__(
        self,
        message: Assistant,
        calls: list[PendingCall],
        faults: CheckArguments,
        conversation: str = "",
        conversed: Conversed | None = None,
    ) -> None:
        self.message = message
        self.calls = calls
        self.conversation = conversation
        self.conversed = conversed or Conversed()
        self._faults = faults

    async def events(
        self,
        toolbox: Toolbox,
        approver: Approver,
        iteration: int,
        max_parallel: int,
        clock: Clock | None = None,
        result_characters: int | None = None,
        hooks: HookRunner | None = None,
    ) -> AsyncGenerator[Event]:
        """Run the calls that were not refused; their approvals and, as each ends, outcomes are the events.

        Those that have not ended when the time of ``clock`` is up are cancelled. Of longer results models are
        shown ``result_characters``.
        """
        send, receive = anyio.create_memory_object_stream[Event](math.inf)
        performance = _Performance(
            self,
            toolbox,
            approver,
            iteration,
            max_parallel,
            send,
            self._faults,
            clock or Clock(),
            result_characters,
            hooks,
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(performance.run)
            try:
                async with receive:
                    async for event in receive:
                        yield event
            except GeneratorExit:  # not passed on: the task group would wrap it
                tasks.cancel_scope.cancel()
        if performance.fault is not None:
            raise performance.fault

    @property
    def returned(self) -> tuple[ToolCall, ...]:
        """The calls that are the caller's to make, by its tools' own names."""
        return tuple(
            ToolCall(call.id, call.tool, call.arguments, _written(call))
            for call in self.calls
            if call.returned and call.outcome is None
        )

    def outcomes(self) -> tuple[ToolOutcome, ...]:
        """One outcome for each call that is not the caller's; for an unfinished one, that it was
        cancelled."""
        for call in self.calls:
            if call.unmade:
                call.refuse("The call was cancelled.", "cancelled", _CANCELLED_ACTION)
        return tuple(call.outcome for call in self.calls if call.outcome is not None)


class _Performance:
    """One run of a turn's calls. ``fault`` is a defect in an approver, which ends the run: it is raised
    outside the task group, which would wrap it."""

    def __init__(
        self,
        turn: TurnCalls,
        toolbox: Toolbox,
        approver: Approver,
        iteration: int,
        max_parallel: int,
        send: MemoryObjectSendStream[Event],
        faults: CheckArguments,
        clock: Clock,
        result_characters: int | None,
        hooks: HookRunner | None,
    ) -> None:
        self._hooks = hooks
        self._reported: set[str] = set()
        self._result_characters = result_characters
        self._clock = clock
        self.fault: Exception | None = None
        self._turn = turn
        self._toolbox = toolbox
        self._approver = approver
        self._iteration = iteration
        self._limit = anyio.CapacityLimiter(max_parallel)
        self._send = send
        self._faults = faults
        self._begun: list[PendingCall] = []

    async def run(self) -> None:
        with self._send:
            for call in self._turn.calls:
                if call.outcome is not None:
                    self._report(call)
            with self._clock.running() as scope:
                for batch in self._batches():
                    await self._perform(batch)
                    if self.fault is not None:
                        return
            if scope.cancelled_caught:
                for call in self._turn.calls:
                    if call.unmade:
                        call.refuse(_TIME_UP, "cancelled", _CANCELLED_ACTION)
                        self._report(call)

    async def _perform(self, batch: list[PendingCall]) -> None:
        """Run the calls of ``batch`` side by side, those that wait for approval as soon as they have it."""
        self._begun += batch
        async with anyio.create_task_group() as tasks:
            waiting: list[tuple[PendingCall, ApprovalRequest]] = []
            try:
                for call in batch:
                    if self._refused(call) or await self._hooked(call):
                        continue
                    if request := await self._request(call):
                        waiting.append((call, request))
                    else:
                        tasks.start_soon(self._make, call, None)
                for call, request in waiting:
                    approval = await self._approval(request)
                    self._apply(call, approval)
                    if call.outcome is None and approval.arguments is not None:
                        await self._hooked(call, only_denies=True)
                    if call.outcome is None:
                        tasks.start_soon(self._make, call, approval)
                    elif call.id not in self._reported:
                        self._report(call)
            except Exception as error:
                self.fault = error
                tasks.cancel_scope.cancel()

    def _refused(self, call: PendingCall) -> bool:
        """Refuse a call that may not be made now; whether that is so."""
        assert call.spec is not None
        refusal = self._toolbox.refusal(call.spec)
        if refusal is not None:
            call.refuse(str(refusal), refusal.code, refusal.user_action)
            self._report(call)
        return refusal is not None

    async def _hooked(self, call: PendingCall, *, only_denies: bool = False) -> bool:
        """Let the hooks see a call, before a person is asked about it: they may change its arguments, or
        refuse it; whether that is so. After the person changed them, hooks can only refuse."""
        assert call.spec is not None
        if self._hooks is None:
            return False
        given = self._hook_input("before_call", call)
        consulted = await self._hooks.consult(given)
        for event in consulted.events:
            self._send.send_nowait(event)
        changed = consulted.given.arguments
        if consulted.denied:
            call.refuse(f"Denied by a hook: {consulted.denied}", "denied", _DENIED_ACTION)
        elif changed != given.arguments and only_denies:
            call.refuse("Denied: a hook would change what the user wrote", "denied", _DENIED_ACTION)
        elif changed != given.arguments:
            call.arguments, call.changed = changed, True
            if faults := self._faults(call.spec, changed or {}):
                call.refuse_arguments([f"as a hook changed them: {faults[0]}", *faults[1:]])
        if call.outcome is not None:
            self._report(call)
        return call.outcome is not None

    async def _after(self, call: PendingCall, outcome: ToolOutcome) -> ToolOutcome:
        """``outcome`` as the hooks leave it."""
        if self._hooks is None:
            return outcome
        given = replace(self._hook_input("after_call", call), result=outcome.result)
        consulted = await self._hooks.consult(given)
        for event in consulted.events:
            self._send.send_nowait(event)
        if consulted.denied:
            error = f"The result was withheld by a hook: {consulted.denied}"
            return failed(call.id, call.tool, error, "denied", _DENIED_ACTION)
        if consulted.given.result != outcome.result and consulted.given.result is not None:
            result = {**outcome.result, "success": True, **consulted.given.result}
            return replace(outcome, result=result, parts=(), structured=None)
        return outcome

    def _hook_input(self, point: HookPoint, call: PendingCall) -> HookInput:
        return HookInput(
            point,
            conversation=self._turn.conversation,
            server=call.server,
            tool=call.tool,
            call_id=call.id,
            arguments=dict(call.arguments or {}),
        )

    async def _request(self, call: PendingCall) -> ApprovalRequest | None:
        """The request for approval of ``call``; ``None`` when it needs none. It may carry
        what calls of its turn brought that have ended, and what those name that may run beside it."""
        assert call.spec is not None
        arguments = call.arguments or {}
        tool = self._toolbox.definition(call.spec)
        reason = await find_reason(self._approver, call.server, tool, arguments)
        turn = [each.arguments or {} for each in self._begun if each.made or each.unmade]
        outward = await self._turn.conversed.judge(self._made_call(call), turn)
        if outward is not None:
            reason = "; ".join(filter(None, (reason, outward.reason)))
        if not reason:
            return None
        return ApprovalRequest(
            call.id,
            call.server,
            tool,
            arguments,
            reason,
            () if outward is None else outward.facts,
            facts_digest="" if outward is None else outward.digest,
            stated=outward is not None and outward.stated,
            is_own=self._toolbox.is_own(call.server),
            previewer=partial(self._toolbox.preview, call.spec, conversation=self._turn.conversation),
        )

    def _made_call(self, call: PendingCall) -> MadeCall:
        assert call.spec is not None
        tool, trusted = self._toolbox.definition(call.spec), self._toolbox.is_trusted(call.spec)
        if self._toolbox.has_stand_in(call.spec):
            tool = replace(tool, details={**tool.details, **LOCAL})
        foreign = next((mark for mark in self._toolbox.foreign_words if mark.source == call.server), None)
        return MadeCall(call.server, tool, call.arguments or {}, trusted, foreign)

    async def _approval(self, request: ApprovalRequest) -> Approval:
        self._send.send_nowait(
            ToolApprovalRequest(
                request.call_id,
                request.server,
                request.tool.name,
                request.arguments,
                self._iteration,
                request.reason,
                request.facts,
            )
        )
        with self._clock.stopped():
            approval = await self._approver.decide(request)
        self._send.send_nowait(
            ToolApprovalAnswer(request.call_id, request.tool.name, approval, self._iteration)
        )
        return approval

    def _apply(self, call: PendingCall, approval: Approval) -> None:
        """Refuse a call that was denied; give an allowed one the arguments that the person changed."""
        assert call.spec is not None
        if not approval.allowed:
            error = f"{DENIED}: {approval.reason}" if approval.reason else DENIED
            call.refuse(error, "denied", _DENIED_ACTION)
        elif approval.arguments is not None:
            call.arguments = approval.arguments
            if faults := self._faults(call.spec, approval.arguments):
                call.refuse_arguments([f"as the user changed them: {faults[0]}", *faults[1:]])
        if call.outcome is not None:
            call.outcome = replace(call.outcome, approval=approval.as_dict())

    async def _make(self, call: PendingCall, approval: Approval | None) -> None:
        assert call.spec is not None
        made = self._made_call(call)
        call.made = True
        marks = list(self._turn.conversed.marks)
        before = len(marks)
        async with self._limit:
            outcome = await self._toolbox.call(
                call.spec,
                call.arguments or {},
                call.id,
                self._turn.conversation,
                approved=approval is not None,
                shown=None if approval is None else approval.shown,
                report=lambda report: self._tell(call, report),
                marks=marks,
            )
        brought = (*marks[before:], *(outcome.marks or ()), *await found_marks(made, outcome))
        self._turn.conversed.add(brought)
        outcome = replace(await self._after(call, outcome), marks=tuple(dict.fromkeys(brought)))
        if call.changed and call.arguments is not None:
            outcome = _with_note(outcome, "A hook", call.arguments)
        if self._result_characters is not None and call.spec.key != READ_RESULT.key:
            outcome = shortened(outcome, self._result_characters)
        call.outcome = outcome if approval is None else _approved(outcome, approval)
        self._report(call)

    def _tell(self, call: PendingCall, report: CallReport) -> None:
        event = reported(report, call.id, call.server, call.tool, self._iteration)
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # nobody hears it any more
            self._send.send_nowait(event)

    def _report(self, call: PendingCall) -> None:
        assert call.outcome is not None
        self._reported.add(call.id)
        self._send.send_nowait(
            ToolCallFinished(call.id, call.server, call.tool, call.outcome, self._iteration)
        )

    def _batches(self) -> Iterator[list[PendingCall]]:
        """The calls to be made, in order, in groups that may run side by side."""
        batch: list[PendingCall] = []
        traces = set[str]()
        for call in self._turn.calls:
            if not call.unmade or call.spec is None:
                continue
            if not self._toolbox.definition(call.spec).runs_alone:
                made = self._made_call(call)
                if waits_for(made, traces):
                    yield batch
                    batch, traces = [], set[str]()
                traces.add(traces_of(made))
                batch.append(call)
                continue
            yield from filter(None, (batch, [call]))
            batch, traces = [], set[str]()
        if batch:
            yield batch


def _approved(outcome: ToolOutcome, approval: Approval) -> ToolOutcome:
    """``outcome`` with its approval; the model is shown the arguments that the person changed."""
    if approval.arguments is None:
        return replace(outcome, approval=approval.as_dict())
    return replace(_with_note(outcome, "The user", approval.arguments), approval=approval.as_dict())


def _with_note(outcome: ToolOutcome, who: str, arguments: Mapping[str, Any]) -> ToolOutcome:
    note = f"{who} changed the arguments of this call to {json.dumps(dict(arguments))}."
    parts = outcome.parts
    if not parts and outcome.structured is None:
        shown = outcome.result.get("error" if outcome.failed else "result")
        text = shown if isinstance(shown, str) else json.dumps(shown)
        parts = (Part("text", {"type": "text", "text": text}),)
    note_part = Part("text", {"type": "text", "text": note})
    return replace(outcome, parts=(*parts, note_part))
