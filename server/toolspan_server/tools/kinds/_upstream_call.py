"""A call of an upstream's tool, in as many rounds as the upstream and the client's protocol revision need."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, cast, get_args

import anyio

from ...calls.client import (
    Ability,
    InputRequired,
    Level,
    Question,
)
from ...calls.content import (
    ABSENT,
    Block,
    Content,
    text_of,
)
from ...calls.context import Context
from ...common.trace_context import outgoing
from ...engines.upstreams import (
    CallRefused,
    InputNeeded,
    InputResponses,
    NoResult,
    NotAuthorized,
    ServerGone,
    UpstreamResult,
)
from ...errors import RequestRefused, ToolFailure, ToolspanError

if TYPE_CHECKING:
    from ..services._client_relay import ClientRelay
    from ..services._ongoing_call import OngoingCall
    from ..services._upstreams import Upstream

MAX_ROUNDS = 10
"""How many times the upstream may ask for input during one call."""

MAX_STATE = 65_536
"""Longest ``requestState`` of an upstream, in characters: it travels through the client."""

MAX_ERROR_BYTES = 262_144
"""Largest content of a failed call, in bytes of JSON; of a larger one only the text is kept, truncated."""

_MAX_QUESTIONS = 16
_STATE_ONLY_SECONDS = 0.25
_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
_VERSION = "io.modelcontextprotocol/protocolVersion"
_RESERVED = frozenset(("mcp", "modelcontextprotocol"))
"""What keys of ``_meta`` with one of these labels before their slash mean is MCP's to say."""
_ABILITIES: Mapping[str, Ability] = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
_KEYS = "upstream-keys"
_ANSWERS = (ServerGone, CallRefused, NotAuthorized, NoResult)
_FOR_CLIENTS = (-32021, -32042)
"""What the client itself has to do something about, so that it gets the upstream's words: it lacks a
capability, or a person has to open a URL first (MCP 2026-07-28, basic; 2025-11-25, client/elicitation)."""

_ACTION = "Read the error, correct the arguments, and call the tool again."
_NO_RESULT_ACTION = "The upstream's answers are of no use: tell whoever runs it, and use another tool."
_NOT_AUTHORIZED_ACTION = "Call with a token of the right issuer; whoever runs the server sees why in its log."
_GONE_ACTION = "Try again later: the server is being connected again; its state is at /readyz."


class UpstreamCall:
    """One call of ``tool``.

    The upstream may send requests during the call (before MCP 2026-07-28) or return the input that it needs
    (since then). The client is either asked while its call waits, or repeats its call with the answers. In
    the latter case a call that sent a request stays open at the upstream, and is resumed; if it is gone by
    then, it is made again, and questions that were answered already are not asked again.
    """

    def __init__(self, upstream: Upstream, tool: str, arguments: Mapping[str, Any], context: Context) -> None:
        self._upstream = upstream
        self._tool = tool
        self._arguments = arguments
        self._context = context
        self._client = context.client
        whole = json.dumps([upstream.name, tool, arguments], sort_keys=True)
        self._name = "upstream-" + hashlib.sha256(whole.encode()).hexdigest()[:16]

    async def made(self) -> Content:
        """The tool's content. Raises ``ToolFailure``, and what ``Client.ask`` raises."""
        return self._content(await self.result())

    async def result(self) -> UpstreamResult:
        """What the upstream answers at last. Raises as ``made``."""
        note = cast("dict[str, Any]", self._client.memory.pop(self._name, None) or {})
        ongoing = self._relay().taken_up(note.get("call"))
        needed = InputNeeded(note["requests"], note["state"]) if "requests" in note else None
        rounds: int = note.get("rounds", 0)
        while True:
            again = await self._answered(needed, rounds) if needed is not None else None
            outcome = await self._outcome(ongoing or self._begun(again))
            if isinstance(outcome, UpstreamResult):
                return outcome if outcome.task is None else await self._of_task(outcome.task)
            rounds, needed, ongoing = rounds + 1, outcome, None
            if rounds > MAX_ROUNDS:
                raise self._failure(f"asked for more input {MAX_ROUNDS} times without ever answering")

    async def _of_task(self, task: Mapping[str, Any]) -> UpstreamResult:
        """What ``task``, which the upstream has made of the call, comes to. The client's call is one too from
        now on, if it may be."""
        from ._upstream_task import UpstreamTask

        with self._failures():
            return await UpstreamTask(
                self._upstream, task, self._client, self._question, self._context.origin
            ).result()

    def _relay(self) -> ClientRelay:
        try:
            return self._upstream.relay_of_caller(self._context.origin)
        except ServerGone as error:
            raise self._failure(error.what, "upstream_unavailable", _GONE_ACTION) from None

    def _begun(self, again: InputResponses | None) -> OngoingCall:
        from ..services._ongoing_call import OngoingCall

        ongoing = OngoingCall(self._client, partial(self._asked, again))
        self._relay().begin(ongoing)
        return ongoing

    async def _asked(self, again: InputResponses | None, call_id: str) -> UpstreamResult | InputNeeded:
        connection = await self._upstream.connection_of_caller(self._context.origin)
        return await connection.call(self._tool, self._arguments, meta=self._meta(call_id), again=again)

    async def _outcome(self, ongoing: OngoingCall) -> UpstreamResult | InputNeeded:
        with self._failures():
            try:
                return await ongoing.followed(self._client, self._key)
            except InputRequired:
                self._relay().park(ongoing)
                self._client.memory[self._name] = {"call": ongoing.id}
                raise
            except _ANSWERS:
                raise
            except BaseException:
                ongoing.cancel()
                raise

    @contextmanager
    def _failures(self) -> Generator[None]:
        """Raise what the upstream cannot answer, or refuses, as the tool's own failure."""
        try:
            yield
        except ServerGone as error:
            raise self._failure(error.what, "upstream_unavailable", _GONE_ACTION, error.detail) from None
        except CallRefused as error:
            raise self._refused(error) from None
        except NotAuthorized as error:
            raise self._failure(str(error), "not_authorized", _NOT_AUTHORIZED_ACTION) from None
        except NoResult as error:
            raise self._failure(str(error), action=_NO_RESULT_ACTION) from None

    async def _answered(self, needed: InputNeeded, rounds: int) -> InputResponses:
        """The client's answers to the requested input; noted where they arrive with a later request."""
        if len(needed.state or "") > MAX_STATE or len(needed.requests) > _MAX_QUESTIONS:
            limit = f"{_MAX_QUESTIONS} questions or {MAX_STATE} characters of state"
            raise self._failure(f"asked with more than {limit} at a time")
        if not needed.requests:
            await anyio.sleep(_STATE_ONLY_SECONDS)
            return InputResponses(state=needed.state)
        questions = {key: self._question(request) for key, request in needed.requests.items()}
        names = {
            key: self._given_key(key, self._key(rounds, question, key)) for key, question in questions.items()
        }
        note = {"requests": needed.requests, "state": needed.state, "rounds": rounds}
        self._client.memory[self._name] = note
        answers = await self._client.ask({names[key]: question for key, question in questions.items()})
        self._client.memory.pop(self._name, None)
        return InputResponses({key: dict(answers[name]) for key, name in names.items()}, needed.state)

    def _question(self, request: Mapping[str, Any]) -> Question:
        ability = _ABILITIES.get(str(request.get("method")))
        if ability is None or ability not in self._upstream.may_ask:
            allowed = f"services.upstreams.{self._upstream.name}.may_ask"
            raise self._failure(f"asked with {request.get('method')!r}, which {allowed} does not allow")
        params = request.get("params")
        given = dict(cast("Any", params)) if isinstance(params, Mapping) else {}
        return Question(ability, given, once=ability == "elicitation")

    def _key(self, number: int, question: Question, given: str = "") -> str:
        """A key that identifies the question within this call: equal only for an equal question."""
        whole = json.dumps([given, question.ability, question.params], sort_keys=True)
        return f"{self._name}-{number}-{hashlib.sha256(whole.encode()).hexdigest()[:16]}"

    def _given_key(self, given: str, own: str) -> str:
        """The upstream's own key for a question, which ``own`` stands for, unless another question of the
        client's call has it: an answer is good for one question alone."""
        known: dict[str, str] = self._client.memory.setdefault(_KEYS, {})
        return given if known.setdefault(given, own) == own else own

    def _meta(self, call_id: str) -> dict[str, Any]:
        """The ``_meta`` of the call: the parts of the client's that concern the upstream."""
        given = self._context.meta
        sent_meta: dict[str, Any] = dict(outgoing(given))
        if "progressToken" in given:
            sent_meta["progressToken"] = call_id
        if (level := given.get(_LOG_LEVEL)) in get_args(Level):
            sent_meta[_LOG_LEVEL] = level
        elif _VERSION not in given:
            sent_meta[_LOG_LEVEL] = "info"
        return sent_meta

    def _content(self, answer: UpstreamResult) -> Content:
        if answer.is_error:
            raise self._failed(tuple(answer.content))
        structured = answer.structured if answer.has_structured else ABSENT
        meta = {key: value for key, value in (answer.meta or {}).items() if not _is_reserved(key)}
        return Content(tuple(answer.content), structured, meta)

    def _failed(self, blocks: tuple[Block, ...]) -> ToolFailure:
        redact = self._upstream.connection.spec.redact
        blocks = tuple(
            {**block, "text": redact(str(block["text"]))} if block.get("type") == "text" else block
            for block in blocks
        )
        fits = len(json.dumps(blocks)) <= MAX_ERROR_BYTES
        text = text_of(blocks) or "the tool reported an error without a message"
        return ToolFailure(
            f"Upstream '{self._upstream.name}': {text}",
            error_code="upstream_error",
            user_action=_ACTION,
            content=blocks if fits and blocks else None,
        )

    def _refused(self, error: CallRefused) -> ToolspanError:
        if error.code in _FOR_CLIENTS:
            return RequestRefused(error.code, str(error), error.data)
        code = "invalid_parameters" if error.is_invalid else "upstream_error"
        return self._failure(f"refused the call: {error}", code)

    def _failure(
        self, what: str, code: str = "upstream_error", action: str = _ACTION, detail: str = ""
    ) -> ToolFailure:
        error = f"Upstream '{self._upstream.name}': {what}"
        return ToolFailure(error, error_code=code, user_action=action, detail=detail)


def _is_reserved(key: str) -> bool:
    prefix, slash, _ = key.partition("/")
    return bool(slash) and not _RESERVED.isdisjoint(prefix.split("."))
