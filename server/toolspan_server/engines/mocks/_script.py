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
from ._replies import MockAnswer, MockReplies, MockRule
from ._reply_selection import Replies, Reply


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
        self._conversation = MockSteps(steps, stops=on_decline is not None)
        self._rules = [(Condition(rule.when), Replies(rule, directory)) for rule in rules]
        self._otherwise = None if replies is None else Replies(replies, directory)
        self._declined = None if on_decline is None else Reply(on_decline, directory)
        self._calls = 0

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        """The answer; see ``Reply.give``. Raises ``InputRequired`` as ``Client.ask`` does."""
        turn = MockCall(arguments, context, self._calls + 1)
        self._calls += not turn.resumed
        try:
            accepted = await self._conversation.hold(turn)
        except InputRequired:
            raise
        except BaseException:
            turn.end()
            raise
        turn.end()
        if self._declined is not None and not accepted:
            return await self._declined.give(turn)
        return await self._chosen(turn).give(turn)

    def _chosen(self, turn: MockCall) -> Replies:
        for condition, replies in self._rules:
            if condition.holds(turn.scope):
                return replies
        if self._otherwise is None:
            raise ToolFailure(
                "No rule of the mock fits these arguments",
                error_code="no_rule",
                user_action="Use other arguments; or add a rule, or an answer for all others, to it.",
            )
        return self._otherwise
