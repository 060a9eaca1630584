"""Makes the result plain JSON without secrets, no larger than the limit."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar
from typing_extensions import override

from ....calls.content import ABSENT, Block, Content
from ....calls.context import Context
from ....common.exceptions import innermost
from ....common.json_values import (
    SMALL,
    JsonSanitizer,
    NotJson,
    OverBudget,
    dotted,
    is_small,
)
from ....errors import ToolFailure
from .._truncation import (
    cut,
    cut_block,
    json_size,
    left_out,
)
from ..step import Step, StepInputs

T = TypeVar("T")
Redact = Callable[[str], str]

ORDER = 70

_log = logging.getLogger(__name__)
_QUICK_VALUES = 10_000
_QUICK_BYTES = 1_000_000
_MOST_VALUES = 100_000
_MOST_BYTES = 16 << 20
_WORST_ESCAPE = 6
_LOOK_EVERY = 1_000
_AT_ONCE = 2
_FIX = "Report it to the maintainer of the tool: it must return JSON values."
_threads: RunVar[anyio.CapacityLimiter] = RunVar("toolspan_large_results")


def build(following: Step, inputs: StepInputs) -> Step:
    """For every tool."""
    return sanitised(following, inputs.max_result_bytes, inputs.redact)


def sanitised(following: Step, max_bytes: int, redact: Redact | None = None) -> Step:
    r"""Pass on results of ``following`` as plain JSON of at most ``max_bytes`` bytes.

    Tuples become arrays and lone surrogates ``\udXXX``; every text passes ``redact``. What JSON cannot
    represent (NaN, sets, objects, more than 64 levels) is a ``ToolFailure`` that names the field. A result
    that is too large is truncated and marked; if it is not a text, it becomes its JSON, truncated. The
    content of a failure follows the same rules, and is omitted when it cannot be sent.

    Large results are processed in threads, a few at a time, which end when the call is cancelled.
    """

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        try:
            result = await following(arguments, context)
        except BaseException as error:
            failure = innermost(error)
            if not isinstance(failure, ToolFailure) or failure.content is None:
                raise
            failure.content = await shown(failure.content, context)
            raise failure from None
        return await passed(result, context)

    async def passed(result: Any, context: Context) -> Any:
        try:
            return _quick(result, max_bytes, redact)
        except OverBudget:
            large = _Large(max_bytes, redact, context.cancelled.is_set)
            return await _in_thread(partial(large.passed, result))

    async def shown(blocks: tuple[Block, ...], context: Context) -> tuple[Block, ...] | None:
        try:
            content: Content = await passed(Content(blocks), context)
        except ToolFailure as failure:
            message = failure.error if redact is None else redact(failure.error)
            _log.warning("the content of a failure is left out: %s", message)
            return None
        return content.blocks

    return step


def _quick(result: Any, max_bytes: int, redact: Redact | None) -> Any:
    """``result`` as it is sent. Raises ``OverBudget`` when that is too much work for the event loop."""
    if redact is None and max_bytes >= SMALL * _WORST_ESCAPE and is_small(result):
        return dict(result)
    sanitizer = JsonSanitizer(_QUICK_VALUES, _QUICK_BYTES, on_text=redact)
    if not isinstance(result, Content):
        return _sent(result, max_bytes, sanitizer)
    copied = _copied(result, sanitizer)
    if sanitizer.size * _WORST_ESCAPE > max_bytes:
        raise OverBudget(f"{max_bytes:,} bytes")
    return copied


class _Stopped(Exception):
    """The call was cancelled: the result is no longer needed."""


@dataclass
class _Watched(JsonSanitizer):
    """A sanitiser that raises ``_Stopped`` soon after ``stopped`` is set."""

    stopped: Callable[[], bool] = bool

    @override
    def copy(self, value: Any, depth: int = 0) -> Any:
        if self.values % _LOOK_EVERY == 0 and self.stopped():
            raise _Stopped
        return super().copy(value, depth)


@dataclass(frozen=True, slots=True)
class _Large:
    """Processes results of any size, off the event loop."""

    max_bytes: int
    redact: Redact | None
    stopped: Callable[[], bool]

    def passed(self, result: Any) -> Any:
        """``result`` as it is sent."""
        if isinstance(result, Content):
            return self.content(result)
        return _sent(result, self.max_bytes, self._sanitizer())

    def content(self, content: Content) -> Content:
        """``content``, each part within ``max_bytes``; a marker replaces what does not fit."""
        blocks = self._blocks(content.blocks)
        structured = content.structured
        meta: dict[str, Any] = _part(dict(content.meta), self._sanitizer())
        if structured is not ABSENT:
            structured = _part(structured, self._sanitizer())
            if (size := json_size(structured)) > self.max_bytes:
                structured = ABSENT
                blocks.append(left_out("structured content", size, self.max_bytes))
        if (size := json_size(meta)) > self.max_bytes:
            meta = {}
            blocks.append(left_out("_meta", size, self.max_bytes))
        return Content(tuple(blocks), structured, meta)

    def _blocks(self, blocks: tuple[Block, ...]) -> list[Block]:
        left = self.max_bytes
        sent: list[Block] = []
        for block in blocks:
            plain = _part(dict(block), self._sanitizer())
            size = json_size(plain)
            if size > left:
                more = len(blocks) - len(sent) - 1
                sent.append(cut_block(plain, size, left, self.max_bytes, more))
                break
            left -= size
            sent.append(plain)
        return sent

    def _sanitizer(self) -> JsonSanitizer:
        values, size = max(_MOST_VALUES, self.max_bytes // 2), max(_MOST_BYTES, self.max_bytes)
        return _Watched(values, size, on_text=self.redact, partial=True, stopped=self.stopped)


def _copied(content: Content, sanitizer: JsonSanitizer) -> Content:
    structured = content.structured
    return Content(
        tuple(_part(dict(block), sanitizer) for block in content.blocks),
        structured if structured is ABSENT else _part(structured, sanitizer),
        _part(dict(content.meta), sanitizer),
    )


def _part(value: Any, sanitizer: JsonSanitizer) -> Any:
    try:
        return sanitizer.copy(value)
    except NotJson as fault:
        raise _unfit("content", fault) from None


def _sent(result: Any, max_bytes: int, sanitizer: JsonSanitizer) -> Any:
    try:
        plain = sanitizer.copy(result)
    except NotJson as fault:
        raise _unfit("a result", fault) from None
    if sanitizer.size * _WORST_ESCAPE <= max_bytes and not sanitizer.full:
        return plain
    if isinstance(plain, str):
        fits = len(plain) <= max_bytes and json_size(plain) <= max_bytes
        return plain if fits else cut(plain, max_bytes, f"{len(plain.encode()):,}")
    text = json.dumps(plain, ensure_ascii=False)
    size = len(text.encode())
    if size <= max_bytes and not sanitizer.full:
        return plain
    return cut(text, max_bytes, f"more than {size:,}" if sanitizer.full else f"{size:,}")


def _unfit(what: str, fault: NotJson) -> ToolFailure:
    field = f" in '{dotted(fault.path)}'" if fault.path else ""
    return ToolFailure(f"The tool gave {what}{field} that {fault.what}", user_action=_FIX)


async def _in_thread(work: Callable[[], T]) -> T:
    """The result of ``work``. When the call is cancelled, ``work`` notices and ends by itself."""
    try:
        limiter = _threads.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(_AT_ONCE)
        _threads.set(limiter)
    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=limiter)
