"""The live mock that does more than give one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...calls.client import InputRequired
from ...calls.context import Context
from ...errors import ToolFailure
from ..conditions import Condition
from ..mock_steps import MockCall, MockStep, MockSteps
from ._nearest import nearest_rule
from ._replies import MockAnswer, MockReplies, MockRule
from ._reply_selection import LiveReply, ReplySelector


class MockScript:
    """Takes its steps, then gives the answer of the first rule that holds, or else the one of ``replies``."""

    def __init__(
        self,
        replies: MockReplies | None,
        *,
        steps: Sequence[MockStep],
        rules: Sequence[MockRule],
        on_decline: MockAnswer | None,
        directory: Path,
    ) -> None:
        self._steps = MockSteps(steps, stops=on_decline is not None)
        self._rules = [(Condition(rule.when), ReplySelector(rule, directory)) for rule in rules]
        self._whens = [rule.when for rule in rules]
        self._otherwise = None if replies is None else ReplySelector(replies, directory)
        self._declined = None if on_decline is None else LiveReply(on_decline, directory)
        self._calls = 0

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        """The answer; see ``LiveReply.give``. Raises ``InputRequired`` as ``Client.ask`` does."""
        call = MockCall(arguments, context, self._calls + 1)
        self._calls += not call.resumed
        try:
            accepted = await self._steps.run(call)
        except InputRequired:
            raise
        except BaseException:
            call.end()
            raise
        call.end()
        if self._declined is not None and not accepted:
            return await self._declined.give(call)
        return await self._chosen(call).give(call)

    def _chosen(self, call: MockCall) -> ReplySelector:
        for condition, replies in self._rules:
            if condition.holds(call.scope):
                return replies
        nearest = nearest_rule(self._whens, call.scope) if self._whens else ""
        if self._otherwise is None:
            raise ToolFailure(
                f"No rule of the mock fits these arguments; the nearest is for {nearest}",
                error_code="no_rule",
                user_action="Use other arguments; or add a rule, or an answer for all others, to it.",
            )
        if nearest:
            call.note_nearest(nearest)
        return self._otherwise
