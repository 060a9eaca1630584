"""The client of the eras with a handshake: it is asked while the call runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import Request
from pydantic import RootModel, ValidationError

from ...calls.client import ClientAnswer, Question, cannot_answer
from ...common.json_values import shortened
from ...errors import ToolFailure
from ..state.running_calls import WaitForClient
from ._progress import ProgressClient, RequestContext
from ._questions import METHODS, fault_in, lacking

_MOST_TEXT = 1_000


class _Answer(RootModel[dict[str, Any]]):
    """A result as it came."""


class HandshakeClient(ProgressClient):
    """Asks by requests to the client, related to its own: on HTTP they ride that one's stream.

    ``wait_for_client`` waits for an answer without holding a slot of the running calls.
    """

    def __init__(self, context: RequestContext, wait_for_client: WaitForClient) -> None:
        super().__init__(context)
        self._wait_for_client = wait_for_client
        self._answers: dict[str, ClientAnswer] = {}

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, ClientAnswer]:
        """The answers, asked for one after the other."""
        for question in questions.values():
            if lacking(self.capabilities, question):
                raise cannot_answer(question.ability)
        for key, question in questions.items():
            if key not in self._answers:
                self._answers[key] = await self._answer(question)
        return {key: self._answers[key] for key in questions}

    async def _answer(self, question: Question) -> ClientAnswer:
        method = METHODS[question.ability]
        request: Any = Request[dict[str, Any], str](method=method, params=dict(question.params))
        related = ServerMessageMetadata(related_request_id=self._context.request_id)
        try:
            answer = await self._wait_for_client(
                lambda: self._context.session.send_request(request, _Answer, metadata=related)
            )
        except NoBackChannelError:
            raise cannot_answer(question.ability) from None
        except MCPError as error:
            raise _refused(shortened(error.error.message, _MOST_TEXT)) from None
        except ValidationError:
            raise _refused(f"its answer is no result of {method}") from None
        if fault := fault_in(question, answer.root):
            raise _refused(f"its answer is wrong: {fault}")
        return answer.root


def _refused(why: str) -> ToolFailure:
    return ToolFailure(
        f"The client did not answer the tool's question: {why}",
        error_code="client_refused",
        user_action="Answer the question in the client and call the tool again.",
    )
