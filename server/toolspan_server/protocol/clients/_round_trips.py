"""The client of the modern era: what it is asked ends the request, and it comes again with the answers."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any, cast

from mcp_types import INTERNAL_ERROR, MISSING_REQUIRED_CLIENT_CAPABILITY

from ...calls.client import ClientAnswer, InputRequired, Question
from ...errors import RequestRefused
from ..state.single_use_tokens import single_use
from ._progress import ProgressClient, RequestContext
from ._questions import fault_in, lacking, rendered

MOST_STATE_BYTES = 262_144
STATE_S = 3_600.0
"""How long a state is good."""

_log = logging.getLogger(__name__)


class RoundsClient(ProgressClient):
    """Gives the answers of this request and of those before it, which travel in ``requestState``.

    MCP 2026-07-28, basic/patterns/mrtr. Answers of another shape count as none, so that they are asked for
    again; so do answers to what the state does not say was asked. Without a state a client may answer ahead,
    but for what counts once. The state is sealed, and was found whole, by the SDK's
    ``RequestStateBoundary``. When it comes again, or comes from another server of the same key, its answers
    that count once are asked for again.
    """

    def __init__(self, context: RequestContext) -> None:
        super().__init__(context)
        params = context.params or {}
        state: dict[str, Any] = json.loads(params["requestState"]) if params.get("requestState") else {}
        self.memory = state.get("memory", {})
        self._answers: dict[str, ClientAnswer] = state.get("answers", {})
        given = cast("Mapping[str, Any]", params.get("inputResponses") or {})
        self._given = {key: given[key] for key in state.get("asked", ()) if key in given}
        self._unasked: Mapping[str, Any] = {} if state else given
        self._once: set[str] = set(state.get("once", ()))
        if self._once and not single_use().redeem(state["token"]):
            self._forget_once(context.method)

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, ClientAnswer]:
        """The answers, if all are there. Raises ``InputRequired`` for the others.

        Raises ``RequestRefused`` for a question beyond the client's capabilities, which MUST be answered
        so (MCP 2026-07-28, basic).
        """
        for question in questions.values():
            refuse_beyond(self.capabilities, question)
        self._once.update(key for key, question in questions.items() if question.once)
        missing = {key: question for key, question in questions.items() if not self._knows(key, question)}
        if missing:
            raise InputRequired(missing)
        return {key: self._answers[key] for key in questions}

    def learn(self, answers: Mapping[str, ClientAnswer]) -> None:
        """Know ``answers`` that came in another way."""
        self._answers.update(answers)

    def required(self, needed: InputRequired) -> dict[str, Any]:
        """The ``InputRequiredResult`` that asks for what is ``needed``, its state still to be sealed."""
        held = {"answers": self._answers, "memory": dict(self.memory), "asked": list(needed.questions)}
        if self._once:
            held |= {"once": sorted(self._once), "token": single_use().issue(STATE_S)}
        try:
            state = json.dumps(held, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise RequestRefused(INTERNAL_ERROR, "What the tool remembers is no plain JSON") from None
        if len(state) > MOST_STATE_BYTES:
            raise RequestRefused(
                INTERNAL_ERROR, f"The answers and what the tool remembers exceed {MOST_STATE_BYTES:,} bytes"
            )
        return {
            "resultType": "input_required",
            "inputRequests": rendered(needed.questions),
            "requestState": state,
        }

    def _forget_once(self, method: str) -> None:
        _log.warning("%s: a requestState is not good any more: what counts once is asked again", method)
        for key in self._once:
            self._answers.pop(key, None)
            self._given.pop(key, None)

    def _knows(self, key: str, question: Question) -> bool:
        if key in self._answers:
            return True
        given = self._given if question.once else {**self._unasked, **self._given}
        if key not in given or fault_in(question, given[key]):
            return False
        self._answers[key] = given[key]
        return True


def refuse_beyond(capabilities: Mapping[str, Any], question: Question) -> None:
    """Raise ``RequestRefused`` when a client of ``capabilities`` must not be asked ``question``."""
    lacked = lacking(capabilities, question)
    if lacked:
        raise missing_capability(lacked)


def missing_capability(lacked: Mapping[str, Any]) -> RequestRefused:
    """``MissingRequiredClientCapabilityError`` for the ``ClientCapabilities`` that are ``lacked``."""
    return RequestRefused(
        MISSING_REQUIRED_CLIENT_CAPABILITY,
        "Missing required client capability",
        {"requiredCapabilities": dict(lacked)},
    )
