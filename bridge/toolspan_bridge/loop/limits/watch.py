"""Holds a question to its limits: what it has used, and whether there is another turn."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Literal

from ...conversation import Conversation
from ...errors import UsageError
from ...events import (
    ElicitationAnswer,
    ElicitationRequest,
    SamplingAnswer,
    SubagentEvent,
    ToolApprovalAnswer,
    ToolApprovalRequest,
    ToolCallStarted,
    UsageReported,
)
from ...messages import Usage
from ...providers.prices import Pricing, usd_text
from .clock import Clock
from .limits import AtLimit, LimitChoice, LimitName, LimitReached, Limits, LimitScope
from .spending import CostLimitError, Spending, nearest_limit

NextTurn = Literal["open", "closing", "none"]
"""A turn with tools, a last one without, or none."""

_SCOPES: tuple[LimitScope, ...] = ("question", "conversation")


class Watch:
    """What one question may use. ``reached`` is the limit that ended it, if one did. ``spending`` is what its
    requests are paid from.

    The conversation's own sums (``calls``, ``tokens``, ``usd``, ``seconds``) go on meanwhile.

    Raises ``UsageError`` when the cost is limited and no price is known: the limit would not be held.
    """

    def __init__(
        self,
        limits: dict[LimitScope, Limits],
        iterations: int,
        conversation: Conversation,
        pricing: Pricing,
        at_limit: AtLimit | None = None,
        spending: Spending | None = None,
    ) -> None:
        self.spending = spending or Spending(None)
        self.reached: LimitReached | None = None
        self.usd: float | None = 0.0
        self._limits = limits
        self._iterations: float = iterations
        self._conversation = conversation
        self._pricing = pricing
        self._at_limit = at_limit
        self._calls = 0
        self._tokens = 0
        self._usd: float | None = 0.0
        self._last = (0, 0.0)
        self._before = conversation.seconds
        self._usd_before = conversation.usd or 0.0
        self._spent_before = self.spending.spent
        self._due: LimitReached | None = None
        self._check_prices()
        self.clock = Clock(self._seconds_left())
        self._asked_of: dict[tuple[str, str], AbstractContextManager[None]] = {}

    async def next_turn(self, iteration: int) -> NextTurn:
        """What turn comes after ``iteration`` turns with tools. Asks ``at_limit`` at a limit."""
        while (reached := self._due or self._found(iteration)) is not None:
            choice = await self._choice(reached)
            self._due = None
            if isinstance(choice, str):
                self.reached = reached
                return "closing" if choice == "wrap_up" and self._has_room() else "none"
            self._raise(reached, choice)
        return "open"

    def close(self, name: LimitName, limit: float) -> None:
        """Let the next turn be the last one, for ``name``."""
        self._due = LimitReached(name, "question", limit, limit)

    async def time_is_up(self) -> bool:
        """The time was up within a turn; whether there is more of it now. Asks ``at_limit``."""
        left: dict[LimitScope, float] = {
            scope: limit - self._used(scope, "seconds")
            for scope in _SCOPES
            if (limit := self._limits[scope].seconds) is not None
        }
        scope = min(left, key=lambda each: left[each])
        limit = self._limits[scope].seconds or 0.0
        reached = LimitReached("seconds", scope, limit, limit)
        choice = await self._choice(reached)
        if isinstance(choice, str):
            self.reached = reached
            return False
        self._raise(reached, choice)
        return True

    async def cost_is_up(self, error: CostLimitError) -> bool:
        """A request was not made, as ``error`` says; whether it may be made now. Asks ``at_limit``."""
        left: dict[LimitScope, float] = {
            scope: limit - self._used(scope, "usd")
            for scope in _SCOPES
            if (limit := self._limits[scope].usd) is not None
        }
        scope = min(left, key=lambda each: left[each])
        limit, used = self._limits[scope].usd or 0.0, self._used(scope, "usd")
        reached = LimitReached("usd", scope, limit, used, has_room=False, wanted=error.wanted)
        choice = await self._choice(reached)
        if isinstance(choice, str):
            self.reached = reached
            return False
        self._raise(reached, choice)
        return True

    def replied(self, usage: Usage, tokens: int) -> None:
        """Count a turn of the model; ``tokens`` are those of its ``usage``, or an estimate of them."""
        cost = self._pricing.cost(usage)
        self.usd = None if cost is None or self.usd is None else self.usd + cost
        spent = 0.0 if self._pricing.is_free else cost
        self._usd = None if spent is None or self._usd is None else self._usd + spent
        self._tokens += tokens
        self._last = (tokens, spent or 0.0)
        self._conversation.tokens += tokens
        self._conversation.spend(spent)
        self._conversation.count(self._pricing.model, usage, spent)

    def of_subagent(self, event: SubagentEvent) -> None:
        """Count what a sub-agent uses: its requests, and the calls that it makes. While a person is asked
        about one of them, the time does not count."""
        inner = event.event
        while isinstance(inner, SubagentEvent):
            inner = inner.event
        if isinstance(inner, UsageReported | SamplingAnswer):
            self.of_sample(inner.usage)
        elif isinstance(inner, ToolCallStarted):
            self._calls += 1
            self._conversation.calls += 1
        elif isinstance(inner, ToolApprovalRequest):
            stopped = self.clock.stopped()
            stopped.__enter__()
            self._asked_of[event.call_id, inner.call_id] = stopped
        elif isinstance(inner, ToolApprovalAnswer):
            self._asked_of.pop((event.call_id, inner.call_id)).__exit__(None, None, None)

    def of_question(self, event: ElicitationRequest | ElicitationAnswer) -> None:
        """The time in which a person is asked for a server does not count."""
        asked = event.call_id, str(event.number)
        if isinstance(event, ElicitationRequest):
            stopped = self._asked_of[asked] = self.clock.stopped()
            stopped.__enter__()
        elif asked in self._asked_of:
            self._asked_of.pop(asked).__exit__(None, None, None)

    def of_sample(self, usage: Usage) -> None:
        """Count a request to the model that was made within a call."""
        last = self._last
        self.replied(usage, usage.input_tokens + usage.output_tokens)
        self._last = last

    def takes_call(self) -> LimitReached | None:
        """Count a call that is to be made; the limit that forbids it, if one does."""
        for scope in _SCOPES:
            limit, used = self._limits[scope].calls, self._used(scope, "calls")
            if limit is not None and used >= limit:
                return LimitReached("calls", scope, limit, used)
        self._calls += 1
        self._conversation.calls += 1
        return None

    def finish(self) -> None:
        """Count the time that the question took, and what was paid for requests whose answer was lost."""
        lost = self.spending.spent - self._spent_before - (self._usd or 0.0)
        if self.spending.has_budget and lost > 0:
            self._conversation.spend(lost)
        self._conversation.seconds = self._before + self.clock.elapsed

    @property
    def limits_tokens(self) -> bool:
        """Whether tokens are limited."""
        return any(limits.tokens is not None for limits in self._limits.values())

    async def _choice(self, reached: LimitReached) -> LimitChoice:
        """What becomes of the question at the limit ``reached``; noted where somebody was asked."""
        if self._at_limit is None:
            return "wrap_up"
        with self.clock.stopped():
            has_room = reached.has_room and self._has_room()
            choice = await self._at_limit(replace(reached, has_room=has_room))
        more = "unlimited" if choice == math.inf else choice
        self._conversation.note("limit", {"limit": reached.key, "of": reached.limit, "choice": more})
        return choice

    def _found(self, iteration: int) -> LimitReached | None:
        """The limit that forbids a further turn with tools, and one after it for the answer."""
        for name in ("tokens", "usd"):
            if (over := self._over(name, 2.0)) is not None:
                return over
        if (over := self._of_time()) is not None:
            return over
        for scope in _SCOPES:
            limit, used = self._limits[scope].calls, self._used(scope, "calls")
            if limit is not None and used >= limit:
                return LimitReached("calls", scope, limit, used)
        if iteration >= self._iterations:
            return LimitReached("iterations", "question", self._iterations, iteration)
        return None

    def _has_room(self) -> bool:
        """Whether a last turn is within the limits."""
        return self._over("tokens", 1.0) is None and self._over("usd", 1.0) is None and not self.clock.is_over

    def _over(self, name: Literal["tokens", "usd"], turns: float) -> LimitReached | None:
        """The limit that so many more turns like the last one would exceed, or that is used up."""
        for scope in _SCOPES:
            limit = self._limits[scope].tokens if name == "tokens" else self._limits[scope].usd
            used = self._used(scope, name)
            last = self._last[0] if name == "tokens" else self._last[1]
            further = (turns - 1) * last + max(last, self.spending.least_usd if name == "usd" else 0.0)
            if limit is not None and (used >= limit or used + further > limit):
                return LimitReached(name, scope, limit, used)
        return None

    def _of_time(self) -> LimitReached | None:
        if not self.clock.is_over:
            return None
        for scope in _SCOPES:
            limit, used = self._limits[scope].seconds, self._used(scope, "seconds")
            if limit is not None and used >= limit:
                return LimitReached("seconds", scope, limit, used)
        return None

    def _used(self, scope: LimitScope, name: Literal["calls", "tokens", "usd", "seconds"]) -> float:
        whole = scope == "conversation"
        match name:
            case "calls":
                return self._conversation.calls if whole else self._calls
            case "tokens":
                return self._conversation.tokens if whole else self._tokens
            case "usd":
                usd = self._conversation.usd if whole else self._usd
                return math.inf if usd is None else usd
            case "seconds":
                return self.clock.elapsed + (self._before if whole else 0.0)

    def _raise(self, reached: LimitReached, by: float) -> None:
        if reached.name == "iterations":
            self._iterations += by
        elif reached.name in ("calls", "tokens", "usd", "seconds"):
            raised = None if math.isinf(by) else max(reached.limit, reached.used) + by
            changed: dict[str, Any] = {reached.name: raised}
            self._limits[reached.scope] = replace(self._limits[reached.scope], **changed)
            if reached.name == "seconds":
                self.clock.limit(self._seconds_left())
            if reached.name == "usd" and self.spending.has_budget:
                self._raise_spending()

    def _raise_spending(self) -> None:
        usd, what = nearest_limit(self._limits, self._usd_before)
        self.spending.limit_to(None if usd is None else self._spent_before + usd, what)

    def _seconds_left(self) -> float | None:
        whole = self._limits["conversation"].seconds
        left = [] if whole is None else [max(0.0, whole - self._before)]
        own = self._limits["question"].seconds
        return min([*left, *([] if own is None else [own])], default=None)

    def _check_prices(self) -> None:
        for scope in _SCOPES:
            limit = self._limits[scope].usd
            if limit is None:
                continue
            if not self._pricing.is_known:
                raise UsageError(
                    f"no price is known of {self._pricing.model}: the limit of {usd_text(limit)} would not "
                    "be held. Limit the tokens (--max-total-tokens, limits.question.tokens), or leave it out"
                )
            if scope == "conversation" and self._conversation.usd is None:
                raise UsageError(
                    f"what the conversation cost so far is not known: its limit of {usd_text(limit)} would "
                    "not be held. Start a new one, or limit its tokens"
                )
