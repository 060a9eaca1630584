"""The answers of a mock, given: one, by turns, by chance, or by rule."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, cast

from ...calls.content import ABSENT, Content
from ...errors import RequestRefused, ToolFailure
from ..mock_steps import MockCall
from ..templates import Scope, compiled
from ._content import whole_block
from ._replies import (
    MockError,
    MockProtocolError,
    MockReplies,
    MockReply,
)


class LiveReply:
    """One answer, ready to be given. ``directory`` is what its files start at."""

    def __init__(self, config: MockReply, directory: Path) -> None:
        self._config = config
        self._directory = directory
        self._response = compiled(config.response)
        self._structured = compiled(config.structured)
        self._blocks = compiled(config.content, texts=True)
        self._fixed = config.content is not None and self._blocks.static and not _has_file(config.content)
        self._fault = _Fault(config.error, config.protocol_error)

    async def give(self, call: MockCall, *, fail: bool = False) -> Any:
        """The answer's value, after its delay. Raises ``ToolFailure`` and ``RequestRefused`` where it is one.

        With ``fail`` it is its ``error`` whatever else it has.
        """
        config = self._config
        if delay := _delay(config, call):
            await asyncio.sleep(delay / 1000)
        way = config.ways[0] if config.ways else "mock_response"
        if fail or way in ("error", "protocol_error"):
            raise self._fault.of(call.scope)
        if way == "content":
            return await self._content(call.scope)
        return self._response.render(call.scope) if way == "response" else config.mock_response

    async def _content(self, scope: Scope) -> Content:
        structured: Any = ABSENT
        if "structured" in self._config.model_fields_set:
            structured = self._structured.render(scope)
        blocks: Sequence[Any] = self._blocks.render(scope)
        if self._fixed:
            return Content(tuple(whole_block(block, self._directory) for block in blocks), structured)
        import anyio.to_thread

        return Content(await anyio.to_thread.run_sync(self._read, blocks), structured)

    def _read(self, blocks: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(whole_block(block, self._directory) for block in blocks)


class ReplySelector:
    """Answers, one of which is each call's."""

    def __init__(self, config: MockReplies, directory: Path) -> None:
        self._own = LiveReply(_main(config), directory)
        self._fault = LiveReply(_failing(config), directory)
        self._every = config.fail_every
        self._sequence = [LiveReply(each, directory) for each in config.sequence or ()]
        self._then = config.then
        self._seed = config.random.seed if config.random else 0
        choices = config.random.choices if config.random else ()
        self._choices = [LiveReply(each, directory) for each in choices]
        self._weights = [each.weight for each in choices]
        self._given = 0

    async def give(self, call: MockCall) -> Any:
        """The answer whose turn it is; see ``LiveReply.give``."""
        self._given += 1
        number = self._given
        if self._every is not None and number % self._every == 0:
            return await self._fault.give(call, fail=True)
        if self._sequence:
            return await self._by_turns(number).give(call)
        if self._choices:
            drawn = Random(f"{self._seed}:{number}").choices(self._choices, self._weights)
            return await drawn[0].give(call)
        return await self._own.give(call)

    def _by_turns(self, number: int) -> LiveReply:
        count = len(self._sequence)
        if number <= count or self._then == "repeat_last":
            return self._sequence[min(number, count) - 1]
        if self._then == "cycle":
            return self._sequence[(number - 1) % count]
        raise ToolFailure(
            f"The mock has {count} answer{'s' if count > 1 else ''}, and this is call {number}",
            error_code="no_answer_left",
            user_action="Add answers to its sequence; or write then: cycle, or then: repeat_last.",
        )


class _Fault:
    def __init__(self, error: MockError | None, refusal: MockProtocolError | None) -> None:
        self._error = error or MockError(message="The mock failed, as its config says")
        self._refusal = refusal
        failure: MockError | MockProtocolError = refusal or self._error
        more = refusal.data if refusal else self._error.user_action
        self._message = compiled(failure.message, texts=True)
        self._more = compiled(more, texts=refusal is None)

    def of(self, scope: Scope) -> ToolFailure | RequestRefused:
        """The failure to raise."""
        message, more = self._message.render(scope), self._more.render(scope)
        if self._refusal is not None:
            return RequestRefused(self._refusal.code, message, more)
        return ToolFailure(message, error_code=self._error.code, user_action=more)


def _main(config: MockReplies) -> MockReply:
    """What ``config`` answers where it does not fail."""
    if config.fail_every is None:
        return config
    return _without(config, "error", "protocol_error")


def _failing(config: MockReplies) -> MockReply:
    return _without(config, "mock_response", "response", "content", "structured")


def _without(config: MockReplies, *names: str) -> MockReply:
    given = config.model_fields_set & MockReply.model_fields.keys() - set(names)
    return MockReply(**{name: getattr(config, name) for name in given})


def _delay(config: MockReply, call: MockCall) -> float:
    """Milliseconds; one and the same for the n-th call of a tool."""
    if config.delay_max_ms is None:
        return config.delay_ms
    drawn = Random(f"{call.context.tool_name}:{call.number}")
    return drawn.uniform(config.delay_ms, config.delay_max_ms)


def _has_file(blocks: Sequence[Any]) -> bool:
    for block in blocks:
        if isinstance(block, dict):
            given = cast("dict[str, Any]", block)
            if "file" in given or "file" in given.get("resource", {}):
                return True
    return False
