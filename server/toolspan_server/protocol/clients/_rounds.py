"""The client of the modern era: what it is asked ends the request, and it comes again with the answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from mcp_types import INTERNAL_ERROR, MISSING_REQUIRED_CLIENT_CAPABILITY

from ...client import Answer, InputRequired, Question
from ...errors import RequestRefused
from ._questions import fault_in, lacking, rendered
from ._talking import RequestContext, Talking

MOST_STATE_BYTES = 262_144


class RoundsClient(Talking):
    """Gives the answers of this request and of those before it, which travel in ``requestState``.

    MCP 2026-07-28, basic/patterns/mrtr. Answers of another shape count as none, so that they are asked for
    again. The state is sealed, and was found whole, by the SDK's ``RequestStateBoundary``.
    """

    def __init__(self, context: RequestContext) -> None:
        super().__init__(context)
        params = context.params or {}
        state: dict[str, Any] = json.loads(params["requestState"]) if params.get("requestState") else {}
        self.memory = state.get("memory", {})
        self._answers: dict[str, Answer] = state.get("answers", {})
        self._given = cast("Mapping[str, Any]", params.get("inputResponses") or {})

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, Answer]:
        """The answers, if all are there. Raises ``InputRequired`` for the others.

        Raises ``RequestRefused`` for a question beyond the client's capabilities, which MUST be answered
        so (MCP 2026-07-28, basic).
        """
        for question in questions.values():
            refuse_beyond(self.capabilities, question)
        missing = {key: question for key, question in questions.items() if not self._knows(key, question)}
        if missing:
            raise InputRequired(missing)
        return {key: self._answers[key] for key in questions}

    def learn(self, answers: Mapping[str, Answer]) -> None:
        """Know ``answers`` that came in another way."""
        self._answers.update(answers)

    def required(self, needed: InputRequired) -> dict[str, Any]:
        """The ``InputRequiredResult`` that asks for what is ``needed``, its state still to be sealed."""
        try:
            state = json.dumps({"answers": self._answers, "memory": dict(self.memory)}, allow_nan=False)
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

    def _knows(self, key: str, question: Question) -> bool:
        if key in self._answers:
            return True
        if key not in self._given or fault_in(question, self._given[key]):
            return False
        self._answers[key] = self._given[key]
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
