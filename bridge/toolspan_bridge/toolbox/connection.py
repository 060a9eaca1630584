"""One server's connection as the toolbox uses it: every call ends in an outcome."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import anyio

from toolspan_server.engines.upstreams import (
    CallRefused,
    Connection,
    InputNeeded,
    InputResponses,
    ListedTool,
    Listing,
    NoResult,
    NotAuthorized,
    ServerGone,
    ServerSpec,
    UpstreamResult,
    paused_by,
)

from ..approvals import asks_itself
from ..client import ClientFeatures, Elicitor, Sampler
from ..client.kept_tasks import call_key
from ..messages import ToolOutcome, ToolSpec
from ..principals import PRINCIPAL_META
from ._active_call import ActiveCall
from ._approved_call import able_to_approve, approval_of, unable_to_sample
from ._call_clock import CallClock
from ._heard import Heard
from ._kept_call import KeptCall
from ._needed_pages import with_pages
from ._rounds import NotAnswered, input_needed, with_answers, with_responses
from ._server_listener import ServerListener
from ._server_task import ServerTask
from .outcomes import (
    TOOL_ERROR_ACTION,
    UNLISTED_ACTION,
    failed,
    outcome,
)
from .reports import Report, unreported

if TYPE_CHECKING:
    from toolspan_server.engines.definitions.call_preview import CallPreview

_STRICT = "dev.toolspan/strict"
"""The key of a tool's ``_meta`` by which its server requests strict schemas."""
SHOWN_META = "dev.toolspan/shown"
"""The key of a call's ``_meta`` by which our own server knows what the person was shown of it."""
_PREVIEW_SECONDS = 20.0
CONVERSATION_META = "dev.toolspan/conversation"
"""The key of a call's ``_meta`` by which our own server knows the conversation that the call belongs to."""
_LEVEL_META = "io.modelcontextprotocol/logLevel"
_UNAVAILABLE_ACTION = "Check that the server runs and what it last said, or answer without its tools."
_NO_RESULT_ACTION = (
    "The server's answers are of no use: tell whoever runs it, and answer without this tool, or with another."
)
_SIGN_IN_ACTION = "Ask the user to sign in to the server, or answer without this tool."
_TIMEOUT_ACTION = "Try a smaller request, or raise tools.default_timeout_ms in the config."
_SAMPLING = "sampling/createMessage"
_INPUT_ACTION = "Ask the user for what it needs, or answer without this tool."


class ToolConnection(Connection):
    """The connection to the server of ``spec``; ``specs`` has its tools as models see them. ``features`` are
    what the server may ask for. ``version`` grows whenever the tools were listed again; ``removed`` are those
    that no list has any more, and ``news`` what the person should know of it."""

    def __init__(
        self,
        spec: ServerSpec,
        connect_timeout: float,
        features: ClientFeatures | None = None,
    ) -> None:
        self._features = features = features or ClientFeatures()
        self.news = Heard(spec.name)
        self.version = 1
        self.removed: frozenset[str] = frozenset()
        self._listed: tuple[ListedTool, ...] | None = None
        self._specs: tuple[ToolSpec, ...] = ()
        self._specs_of: tuple[ListedTool, ...] = ()
        self._server = ServerListener(spec.name, features, self.news.notified)
        super().__init__(
            spec,
            connect_timeout,
            listener=self._server,
            log_level=features.log_level,
            on_listing=self._take_listing,
        )

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The server's tools; the very same ones until it lists them again, so that what is made of them for
        one request is there for the next."""
        if self._specs_of is not self.tools:
            self._specs_of = self.tools
            self._specs = tuple(self._spec(tool) for tool in self.tools)
        return self._specs

    def _take_listing(self, listing: Listing) -> None:
        if self._listed is not None:
            before = {tool.name for tool in self._listed}
            self.removed = (self.removed | before) - {tool.name for tool in listing.tools}
            self.news.relisted(self._listed, listing.tools)
        self.version += 1
        self._listed = tuple(listing.tools)

    def _spec(self, tool: ListedTool) -> ToolSpec:
        output, meta = (_object(tool.details.get(key)) for key in ("outputSchema", "_meta"))
        return ToolSpec(
            self.spec.name,
            tool.name,
            tool.description,
            tool.schema,
            output_schema=output or None,
            strict=meta.get(_STRICT) is True,
        )

    async def outcome(
        self,
        name: str,
        arguments: Mapping[str, Any],
        call_id: str,
        conversation: str = "",
        *,
        principal: str | None,
        approved: bool = False,
        shown: str | None = None,
        report: Report = unreported,
        elicitor: Elicitor | None = None,
        sampler: Sampler | None = None,
    ) -> ToolOutcome:
        """Call the tool ``name``. Whatever the server does, there is an outcome within the call's timeout,
        the time not counted in which somebody here is asked.

        A server of our own is told the ``principal`` and the id of the ``conversation``, for which it keeps
        state; no other is.
        ``approved``: the call was allowed here, which is the answer when our own server asks for that;
        ``shown`` is the digest of what a person was shown, which it compares with what it would do.
        ``report`` takes what the server says and asks meanwhile; ``elicitor`` and ``sampler`` answer what
        it asks, in place of those of ``features``.
        """
        started, began = time.perf_counter(), time.monotonic()
        timeout = self.spec.call_timeout

        def instead(error: str, code: str, action: str) -> ToolOutcome:
            return failed(call_id, name, error, code, action, _elapsed_ms(started))

        clock = CallClock(timeout, self._features.limits.progress_seconds)
        try:
            with (
                self._server.calling(name, report, clock, elicitor, sampler) as call,
                clock.running(),
                paused_by(clock.asking),
            ):
                meta = self._meta(call, conversation, principal, (shown or "") if approved else None)
                approves = approved and self.spec.own and self._asks_itself(name)
                kept = KeptCall(
                    self._features.tasks,
                    call,
                    call_key(self.spec.address, principal, conversation, name, arguments),
                )

                async def result_of_task(task: str) -> UpstreamResult:
                    return await self._task_result(task, call, clock, principal, approves=approves)

                answer = await kept.taken_up(result_of_task)
                if answer is None:
                    answer = await self._answered(name, arguments, meta, call, approves=approves)
                if answer.task is not None:
                    answer = await kept.run(str(answer.task["taskId"]), result_of_task)
        except TimeoutError:
            text = f"Tool execution timed out after {round(timeout * 1000)}ms{self._meanwhile(began)}"
            return instead(text, "timeout", _TIMEOUT_ACTION)
        except ServerGone as error:
            return instead(str(error), "server_unavailable", _UNAVAILABLE_ACTION)
        except NotAuthorized as error:
            return instead(str(error), "not_authorized", _SIGN_IN_ACTION)
        except NoResult as error:
            return instead(str(error), "tool_error", _NO_RESULT_ACTION)
        except NotAnswered as error:
            text = f"server {self.spec.name!r} wants input from its client and gets none: {error}"
            return instead(text, "input_refused", _INPUT_ACTION)
        except CallRefused as error:
            missing = f"Tool '{name}' not found"
            if error.message in (missing, f"Unknown tool: {name}", f"Tool {name} not found"):
                return instead(missing, "tool_not_found", UNLISTED_ACTION)
            code = "invalid_parameters" if error.is_invalid else "tool_error"
            return instead(error.message, code, TOOL_ERROR_ACTION)
        return outcome(call_id, name, answer, _elapsed_ms(started))

    async def preview(
        self, name: str, arguments: Mapping[str, Any], principal: str | None, conversation: str = ""
    ) -> tuple[CallPreview, str | None]:
        """How the server, which is one of our own, would run a call of ``name`` for ``principal``: it says
        so, and runs nothing. Where it does not, all arguments are shown, and there is no digest."""
        from toolspan_server.engines.definitions.call_preview import (
            PREVIEW_METHOD,
            plain_preview,
            preview_beside,
            preview_from,
        )

        meta = {CONVERSATION_META: conversation} if conversation else {}
        params = self._made_for({"name": name, "arguments": dict(arguments), "_meta": meta}, principal)
        try:
            answer = await self.request(PREVIEW_METHOD, params, timeout=_PREVIEW_SECONDS)
            return await preview_beside(preview_from, answer)
        except (CallRefused, ServerGone, NoResult, TimeoutError, ValueError) as error:
            why = str(error) or "it did not answer in time"
            told = f"The server {self.spec.name!r} does not say how it would run this call: {why}"
            return await preview_beside(plain_preview, arguments, told), None

    def _meanwhile(self, began: float) -> str:
        unowned = self.unowned_since(began)
        return f"; meanwhile {unowned}" if unowned else ""

    async def _answered(
        self,
        name: str,
        arguments: Mapping[str, Any],
        meta: dict[str, Any],
        call: ActiveCall,
        *,
        approves: bool,
    ) -> UpstreamResult:
        """The result of a call, whatever it asks for meanwhile. Raises as ``Connection.call``, and
        ``NotAnswered``."""
        if approves:
            meta |= able_to_approve(self._features.capabilities())

        async def send(again: InputResponses | None) -> UpstreamResult | InputNeeded:
            made = partial(self.call, name, arguments, meta=meta, again=again)
            return await with_pages(made, call.questions, self._features.limits.rounds)

        answer = await send(None)
        if approves and (approval := approval_of(answer)):
            answer = await send(approval)
        if isinstance(answer, UpstreamResult):
            return answer

        def go_without(method: str) -> bool:
            """A tool of ours for which no model may be asked is told so, and does what it can without."""
            if not self.spec.own or method != _SAMPLING or _SAMPLING in refused:
                return False
            refused.add(method)
            meta.update(unable_to_sample(meta, self._features.capabilities()))
            return True

        refused: set[str] = set()
        return await with_answers(send, answer, call.questions, self._features.limits.rounds, go_without)

    async def _task_result(
        self,
        task: str,
        call: ActiveCall,
        clock: CallClock,
        principal: str | None,
        *,
        approves: bool,
    ) -> UpstreamResult:
        """What the call comes to that its server made a ``task`` of. Raises as ``ServerTask.result``."""
        most = self._features.limits.task_seconds

        async def request(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
            made_for = self._made_for(params, principal)
            return await self.request(method, made_for, timeout=self.spec.call_timeout)

        call.tell(f"{call.tool} runs on as a task of the server {self.spec.name!r}")
        try:
            with clock.asking(), anyio.fail_after(most):
                return await ServerTask(task, request, call, approves=approves).result()
        except TimeoutError:
            what = f"server {self.spec.name!r} had no result of its task within {most:g} s"
            raise NoResult(f"{what}, or told nothing of it") from None

    async def asked(
        self,
        method: str,
        params: Mapping[str, Any],
        principal: str | None,
        report: Report = unreported,
    ) -> dict[str, Any]:
        """The server's result for a request other than a call, made for ``principal``, whatever it asks for
        meanwhile. Raises as
        ``Connection.request``, ``TimeoutError``, and ``NotAnswered``."""
        clock = CallClock(self.spec.call_timeout, self._features.limits.progress_seconds)
        with self._server.calling(method, report, clock) as call, clock.running():

            async def send(again: InputResponses | None) -> dict[str, Any] | InputNeeded:
                made_for = self._made_for(with_responses(params, again), principal)
                made = partial(self.request, method, made_for)
                result = await with_pages(made, call.questions, self._features.limits.rounds)
                return input_needed(result) or result

            answer = await send(None)
            if not isinstance(answer, InputNeeded):
                return answer
            return await with_answers(send, answer, call.questions, self._features.limits.rounds)

    def _meta(
        self, call: ActiveCall, conversation: str, principal: str | None, shown: str | None
    ) -> dict[str, Any]:
        meta: dict[str, Any] = {"progressToken": call.id, _LEVEL_META: self._features.log_level}
        if not self.spec.own:
            return meta
        known = {CONVERSATION_META: conversation or None, SHOWN_META: shown}
        meta |= {key: value for key, value in known.items() if value is not None}
        return meta | self._identity(principal)

    def _identity(self, principal: str | None) -> dict[str, str]:
        """What the ``_meta`` of a request of ``principal`` says of it: to our own servers alone."""
        return {PRINCIPAL_META: principal} if self.spec.own and principal is not None else {}

    def _made_for(self, params: Mapping[str, Any], principal: str | None) -> Mapping[str, Any]:
        """``params`` of a request that is made for ``principal``."""
        identity = self._identity(principal)
        return {**params, "_meta": {**params.get("_meta", {}), **identity}} if identity else params

    def _asks_itself(self, name: str) -> bool:
        return any(asks_itself(tool) for tool in self.tools if tool.name == name)


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _elapsed_ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
