"""Executes a tool by name with arguments, and returns a tool result."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from ...calls.caller import Origin
from ...calls.client import InputRequired
from ...calls.content import ABSENT, Content
from ...calls.context import NO_STORE, Context, Publish, Surroundings, discard_changes
from ...calls.results import ToolResult
from ...calls.slots import WAITED, CallSlot, NoSlot
from ...common.exceptions import (
    innermost,
    is_from_outside,
    message_of,
    traceback_of,
)
from ...common.json_values import (
    JsonSanitizer,
    NotJson,
    OverBudget,
    repaired,
    shortened,
)
from ...errors import RequestRefused, ToolFailure
from ..registry import Registry, Tool
from ._chain import composed
from ._concurrency_limits import ConcurrencyLimiters, ConcurrencyLimits
from .step import Step, StepInputs

if TYPE_CHECKING:
    from ...engines.definitions.call_preview import CallPreview

_log = logging.getLogger(__name__)
_MAX_ERROR = 10_000
_MAX_TRACE = 100_000
_MOST_DATA_VALUES = 10_000
_LOOK = "Try other arguments, or give the reference to the operator of the server: its log has the reason."


class Executor:
    """Runs the tools of ``registry``.

    ``redact`` returns a text without secrets; every text of a result and every error passes it, also in the
    log. ``max_result_bytes`` is the largest result, in bytes of JSON. A call waits ``answer_seconds`` for its
    client's answer to a question. Rate limits continue from ``earlier``, the executor that this one replaces;
    cached results do not, since the tools may have changed.

    Where ``shows_details`` is false, the message of an unexpected error is in the log only, and the result
    has a reference to it.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        surroundings: Surroundings | None = None,
        redact: Callable[[str], str] | None = None,
        max_result_bytes: int = 1_048_576,
        answer_seconds: float = 600,
        concurrency_limits: ConcurrencyLimits | None = None,
        earlier: Executor | None = None,
    ) -> None:
        self.registry = registry
        self.publish: Publish = discard_changes
        self.call_slot: CallSlot = NoSlot()
        self.shows_details = True
        self._surroundings = surroundings or Surroundings()
        self._redact = redact
        self._max_result_bytes = max_result_bytes
        self._answer_seconds = answer_seconds
        self._steps: dict[str, tuple[Tool, Step]] = {}
        self._kept: dict[str, Any] = {} if earlier is None else earlier._kept
        self._limiters: ConcurrencyLimiters = (
            ConcurrencyLimiters(concurrency_limits or ConcurrencyLimits())
            if earlier is None
            else earlier._limiters
        )

    async def execute(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        context: Context | Origin,
        meta: Mapping[str, Any] | None = None,
    ) -> ToolResult:
        """Run the tool ``name`` and return its result. A model's mistake is a failed result, not an
        exception.

        ``context`` carries what is particular to this call (``origin``, ``meta``, ``client``); the tool's
        name and the server's services are filled in here. Where an origin and ``meta`` are all of that, they
        may be given alone. Cancelling ``execute`` cancels the tool. Raises ``InputRequired`` when the tool
        needs the client's answers first, and ``RequestRefused`` when the request itself is to be refused.
        """
        tool = self.registry.get(name)
        return self.unknown(name) if tool is None else await self.run(tool, arguments, context, meta)

    def unknown(self, name: str) -> ToolResult:
        """The result of a call of ``name``, which is not a tool."""
        message = f"Tool '{shortened(name, 128)}' not found"
        failure = ToolFailure(
            message, error_code="tool_not_found", user_action="Call one of the listed tools."
        )
        return ToolResult.failed(self._shown_failure(name, failure), self._clean(name, 128), 0.0)

    async def run(
        self,
        tool: Tool,
        arguments: Mapping[str, Any] | None,
        context: Context | Origin,
        meta: Mapping[str, Any] | None = None,
    ) -> ToolResult:
        """Run ``tool``, one of ``registry``, as ``execute`` does."""
        started = time.perf_counter()
        name = tool.name
        try:
            result = await self._begun(tool, {} if arguments is None else arguments, context, meta)
        except BaseException as error:
            failure = self._failure(name, error)
            return ToolResult.failed(
                self._shown_failure(name, failure), self._clean(name, 128), _elapsed_ms(started)
            )
        if isinstance(result, Content):
            return _with_content(result, name, _elapsed_ms(started))
        return ToolResult(success=True, tool_name=name, execution_time_ms=_elapsed_ms(started), result=result)

    async def preview(
        self, tool: Tool, arguments: Mapping[str, Any], origin: Origin, meta: Mapping[str, Any]
    ) -> CallPreview:
        """What a person is shown of a call from ``origin`` before they allow it. Nothing is run."""
        from ...engines.definitions.call_preview import plain_preview, preview_beside
        from ._previews import preview_of

        try:
            accepted = tool.parameters.accept(dict(arguments))
        except ToolFailure as failure:
            told = f"As things stand the call fails: {failure.error}"
            return await preview_beside(plain_preview, arguments, told)
        if not tool.has_preview:  # also what the tool does not get is shown, as a person may be asked for it
            return await preview_beside(plain_preview, {**arguments, **accepted})
        return await preview_of(tool, accepted, self._context_for(tool, origin, meta))

    def _begun(
        self, tool: Tool, arguments: Any, context: Context | Origin, meta: Mapping[str, Any] | None
    ) -> Coroutine[Any, Any, Any]:
        """The coroutine of the tool's result."""
        if WAITED.get() == math.inf:
            raise _late(tool)
        return self._step_of(tool)(arguments, self._context_for(tool, context, meta))

    def _failure(self, name: str, error: BaseException) -> ToolFailure:
        """The failure that ``error`` stands for; raises errors that end the call in another way."""
        if is_from_outside(error):
            raise error
        cause = innermost(error)
        if isinstance(cause, RequestRefused):
            raise self._refused(cause) from None
        if isinstance(cause, InputRequired):
            raise cause from None
        return cause if isinstance(cause, ToolFailure) else self._unexpected(name, error, message_of(cause))

    def _unexpected(self, name: str, error: BaseException, message: str) -> ToolFailure:
        trace = self._clean(traceback_of(error), _MAX_TRACE)
        if self.shows_details:
            _log.error("tool %r failed\n%s", name, trace)
            return ToolFailure(message)
        reference = _reference()
        _log.error("tool %r failed (reference %s)\n%s", name, reference, trace)
        return ToolFailure(f"The tool failed unexpectedly (reference {reference})", user_action=_LOOK)

    def _step_of(self, tool: Tool) -> Step:
        known = self._steps.get(tool.name)
        if known is not None and known[0] is tool:
            return known[1]
        step = composed(
            StepInputs(
                tool,
                self._max_result_bytes,
                self._answer_seconds,
                self._redact,
                self._limiters,
                lambda: self.call_slot,
                self._kept,
            )
        )
        self._steps[tool.name] = (tool, step)
        return step

    def _context_for(self, tool: Tool, context: Context | Origin, meta: Mapping[str, Any] | None) -> Context:
        base = self._surroundings
        if isinstance(context, Origin):
            return Context(
                context,
                tool.name,
                base.services,
                base.config_dir,
                {} if meta is None else meta,
                call_tool=self._called,
                publish=self.publish,
                store=base.store,
            )
        return Context(
            context.origin,
            tool.name,
            base.services,
            base.config_dir,
            context.meta,
            client=context.client,
            depth=context.depth,
            call_tool=self._called,
            publish=self.publish,
            store=base.store if context.store is NO_STORE else context.store,
        )

    async def _called(self, name: str, arguments: Mapping[str, Any], context: Context) -> ToolResult:
        inner = Context(
            context.origin,
            meta=context.meta,
            client=context.client,
            depth=context.depth + 1,
            store=context.store,
        )
        return await self.execute(name, arguments, inner)

    def _shown_failure(self, name: str, failure: ToolFailure) -> ToolFailure:
        error = failure.error
        if failure.detail and self.shows_details:
            error = f"{error}: {failure.detail}"
        elif failure.detail:
            reference = _reference()
            detail = self._clean(failure.detail, _MAX_ERROR)
            _log.warning("tool %r failed (reference %s): %s", name, reference, detail)
            error = f"{error} (reference {reference}: details are in the server's log)"
        return ToolFailure(
            self._clean(error, _MAX_ERROR),
            error_code=failure.error_code,
            user_action=self._clean(failure.user_action, _MAX_ERROR),
            content=failure.content,
            upstream_status=failure.upstream_status,
        )

    def _refused(self, refused: RequestRefused) -> RequestRefused:
        try:
            data = JsonSanitizer(_MOST_DATA_VALUES, _MAX_TRACE, on_text=self._redact).copy(refused.data)
        except (NotJson, OverBudget) as fault:
            _log.warning("the data of a refusal are left out: %s", fault)
            data = None
        return RequestRefused(refused.code, self._clean(refused.message, _MAX_ERROR), data)

    def _clean(self, text: str, limit: int) -> str:
        return shortened(self._redacted(repaired(text)), limit)

    def _redacted(self, text: str) -> str:
        return text if self._redact is None else self._redact(text)


def _late(tool: Tool) -> ToolFailure:
    return ToolFailure(
        f"Tool execution timed out after {tool.timeout_ms}ms: it waited for its turn among all calls "
        "(limits.concurrent_calls)",
        error_code="timeout",
        user_action="Try again later, or raise the named limit in the config.",
    )


def _with_content(content: Content, name: str, elapsed_ms: float) -> ToolResult:
    return ToolResult(
        success=True,
        tool_name=name,
        execution_time_ms=elapsed_ms,
        result=content.value,
        content=content.blocks,
        has_value=content.structured is not ABSENT,
        meta=content.meta or None,
    )


def _elapsed_ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)


def _reference() -> str:
    """A reference that identifies a failure in the log."""
    import secrets

    return secrets.token_hex(4)
