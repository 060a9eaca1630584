"""From a tool's name and arguments to a tool result."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from .._plain import Copier, NotPlain, OverBudget, repaired, shortened
from ..client import InputRequired
from ..content import ABSENT, Block, Content
from ..context import Context, Publish, tell_nobody
from ..errors import RequestRefused, ToolFailure
from ..registry import Registry, Tool
from ..results import ToolResult
from ._chain import Step, composed

if TYPE_CHECKING:
    from .rate_limit import Buckets

_log = logging.getLogger(__name__)
_MAX_ERROR = 10_000
_MAX_TRACE = 100_000
_MOST_DATA_VALUES = 10_000


class Executor:
    """Runs the tools of ``registry``.

    ``redact`` takes a text and gives it without secrets; every text of a result and every error
    passes it, in the log too. ``max_result_bytes`` is the largest result, in bytes of JSON. A call waits
    ``answer_seconds`` for the answer to a question to its client. How often tools ran counts on from
    ``earlier``, whose place it takes; kept results do not: what they came of may have changed.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        surroundings: Context | None = None,
        redact: Callable[[str], str] | None = None,
        max_result_bytes: int = 1_048_576,
        answer_seconds: float = 600,
        earlier: Executor | None = None,
    ) -> None:
        self.registry = registry
        self.publish: Publish = tell_nobody
        self._surroundings = surroundings or Context()
        self._redact = redact
        self._max_result_bytes = max_result_bytes
        self._answer_seconds = answer_seconds
        self._steps: dict[str, tuple[Tool, Step]] = {}
        self._buckets: Buckets = {} if earlier is None else earlier._buckets

    async def execute(
        self, name: str, arguments: Mapping[str, Any] | None = None, context: Context | None = None
    ) -> ToolResult:
        """Run the tool ``name`` and give its result. A model's mistake is a failed result, no exception.

        ``context`` carries what is particular to this call (``meta``, ``client``); the tool's name and the
        server's services are filled in here. Cancelling ``execute`` cancels the tool. Raises
        ``InputRequired`` and ``RequestRefused`` when the tool needs the client's answers first, or says
        that the request itself is to be refused.
        """
        started = time.perf_counter()
        try:
            result = await self._run(name, {} if arguments is None else arguments, context)
        except ToolFailure as failure:
            told = await self._told(failure)
            return ToolResult.failed(told, self._clean(name, 128), _elapsed_ms(started))
        except RequestRefused as refused:
            raise self._refused(refused) from None
        if isinstance(result, Content):
            return _with_content(result, name, _elapsed_ms(started))
        return ToolResult(success=True, tool_name=name, execution_time_ms=_elapsed_ms(started), result=result)

    async def _run(self, name: str, arguments: Any, context: Context | None) -> Any:
        """The tool's result. Raises ``ToolFailure``, for whatever reason there is none."""
        tool = self.registry.get(name)
        if tool is None:
            action = "Call one of the listed tools."
            raise ToolFailure(
                f"Tool '{shortened(name, 128)}' not found", error_code="tool_not_found", user_action=action
            )
        try:
            return await self._step_of(tool)(arguments, self._context_for(tool, context))
        except (ToolFailure, InputRequired, RequestRefused):
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise self._unexpected(name, error, "The tool's own work was cancelled") from None
        except SystemExit as error:
            message = f"The tool tried to exit the process (status {error.code!r})"
            raise self._unexpected(name, error, message) from None
        except KeyboardInterrupt as error:
            raise self._unexpected(name, error, "The tool raised KeyboardInterrupt") from None
        except Exception as error:
            cause = _innermost(error)
            if isinstance(cause, ToolFailure | InputRequired | RequestRefused):
                raise cause from None
            raise self._unexpected(name, error, _message(cause)) from None

    def _unexpected(self, name: str, error: BaseException, message: str) -> ToolFailure:
        trace = "".join(traceback.format_exception(error))
        _log.error("tool %r failed\n%s", name, self._clean(trace, _MAX_TRACE))
        return ToolFailure(message)

    def _step_of(self, tool: Tool) -> Step:
        known = self._steps.get(tool.name)
        if known is not None and known[0] is tool:
            return known[1]
        step = composed(tool, self._max_result_bytes, self._answer_seconds, self._redact, self._buckets)
        self._steps[tool.name] = (tool, step)
        return step

    def _context_for(self, tool: Tool, context: Context | None) -> Context:
        base = self._surroundings
        if context is None:
            return Context(
                tool.name, base.services, base.config_dir, call_tool=self._called, publish=self.publish
            )
        return Context(
            tool.name,
            base.services,
            base.config_dir,
            context.meta,
            client=context.client,
            depth=context.depth,
            call_tool=self._called,
            publish=self.publish,
        )

    async def _called(self, name: str, arguments: Mapping[str, Any], context: Context) -> ToolResult:
        inner = Context(meta=context.meta, client=context.client, depth=context.depth + 1)
        return await self.execute(name, arguments, inner)

    async def _told(self, failure: ToolFailure) -> ToolFailure:
        content = failure.content
        if content is not None:
            content = await self._shown(content)
        return ToolFailure(
            self._clean(failure.error, _MAX_ERROR),
            error_code=failure.error_code,
            user_action=self._clean(failure.user_action, _MAX_ERROR),
            content=content,
        )

    async def _shown(self, content: tuple[Block, ...]) -> tuple[Block, ...] | None:
        """The blocks of a failure, held to what those of a success are; ``None`` when they cannot be sent."""
        from .sanitise import content_sent

        try:
            return (await content_sent(Content(content), self._max_result_bytes, self._redact)).blocks
        except ToolFailure as failure:
            _log.warning("the content of a failure is left out: %s", self._clean(failure.error, _MAX_ERROR))
            return None

    def _refused(self, refused: RequestRefused) -> RequestRefused:
        try:
            data = Copier(_MOST_DATA_VALUES, _MAX_TRACE, on_text=self._redact).copy(refused.data)
        except (NotPlain, OverBudget) as fault:
            _log.warning("the data of a refusal are left out: %s", fault)
            data = None
        return RequestRefused(refused.code, self._clean(refused.message, _MAX_ERROR), data)

    def _clean(self, text: str, limit: int) -> str:
        return shortened(self._redacted(repaired(text)), limit)

    def _redacted(self, text: str) -> str:
        return text if self._redact is None else self._redact(text)


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


def _innermost(error: Exception) -> BaseException:
    """``error``, or of a group with one member that one."""
    found: Any = error
    while isinstance(found, BaseExceptionGroup) and len(cast("Any", found).exceptions) == 1:
        found = cast("Any", found).exceptions[0]
    return cast("BaseException", found)


def _message(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception:  # an exception whose own __str__ fails
        return type(error).__name__


def _elapsed_ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
