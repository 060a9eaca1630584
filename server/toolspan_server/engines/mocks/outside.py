"""A mock that answers without a server: its answers alone, for whoever stands in for a tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...calls.caller import LOCAL
from ...calls.content import ABSENT, Content
from ...calls.context import Context
from ...errors import RequestRefused, ToolFailure
from ._replies import RuledReplies
from ._script import MockScript

__all__ = ["MockFailure", "MockedContent", "OutsideMock"]


class MockFailure(Exception):
    """The mock answered with an error: its words, its ``code``, and what can be done. ``refuses``: it is one
    of the protocol, of a request that is refused."""

    def __init__(self, error: str, code: str, user_action: str, *, refuses: bool = False) -> None:
        super().__init__(error)
        self.code = code
        self.user_action = user_action
        self.refuses = refuses


@dataclass(frozen=True, slots=True)
class MockedContent:
    """An answer of content blocks, as MCP has them, and the same as data where ``has_structured``."""

    blocks: tuple[Mapping[str, Any], ...]
    structured: Any = None
    has_structured: bool = False


class OutsideMock:
    """What ``replies`` answer to the calls of ``tool``; the first call of each is number 1. Files of answers
    are looked for from ``directory``."""

    def __init__(self, tool: str, replies: RuledReplies, directory: Path) -> None:
        self._context = Context(LOCAL, tool, config_dir=directory)
        self._script = MockScript(
            replies.otherwise, steps=(), rules=replies.rules, on_decline=None, directory=directory
        )

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        """The answer to a call: a JSON value, or ``MockedContent``. Raises ``MockFailure``."""
        try:
            answer = await self._script.call(arguments, self._context)
        except ToolFailure as failure:
            raise MockFailure(failure.error, failure.error_code, failure.user_action) from None
        except RequestRefused as refused:
            raise MockFailure(refused.message, str(refused.code), "", refuses=True) from None
        if not isinstance(answer, Content):
            return answer
        given = answer.structured is not ABSENT
        return MockedContent(answer.blocks, answer.structured if given else None, given)
