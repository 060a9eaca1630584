"""Anthropic's count of a request's tokens (``POST /v1/messages/count_tokens``)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from toolspan_server.common.beside_loop import run_beside

from ....errors import BridgeError, UsageError
from ....loop import first_request
from ....providers.token_counting import count_tokens
from ....providers.wire.wire_request import weight
from ...activity import Began
from ..anthropic_messages.parse import parse_request
from ..anthropic_messages.render import render_error
from ..apis import MESSAGES
from ..faults import RequestFault, fault_in
from .caller import Who
from .choosing import choice_of
from .running import Origin, Run, Runs
from .sending import body_of, headers_of_fault, send_json

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

__all__ = ["TokenCount"]


class TokenCount:
    """The ASGI endpoint: the provider's own count, else an estimate, which a header says."""

    def __init__(self, runs: Runs, who: Who) -> None:
        self._runs = runs
        self._who = who

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        from starlette.requests import Request

        try:
            tokens, warning = await self._counted(Request(scope, receive))
        except (BridgeError, RequestFault) as error:
            fault = fault_in(error)
            await send_json(send, render_error(fault), fault.status, headers_of_fault(fault))
            return
        await send_json(send, {"input_tokens": tokens}, headers=warning)

    async def _counted(self, request: Request) -> tuple[int, dict[str, str]]:
        body, size = await body_of(request)
        asked = await run_beside(size, lambda: parse_request(body, counts=True))
        choice = choice_of(asked.model, request.headers)
        origin = Origin(self._who(request), request.url.path, Began())
        async with self._runs.begin(MESSAGES, asked, choice, origin) as run:
            return await _count(run)


async def _count(run: Run) -> tuple[int, dict[str, str]]:
    from ....loop.budget.estimate import request_tokens

    question = replace(run.question, stream=False)
    provider = run.provider
    tools = () if question.allowed_tools == () else run.toolbox.tools
    whole = first_request(
        question,
        provider.format_name,
        tools,
        searches_tools=provider.searches_tools,
        conversation=run.conversation,
    )
    try:
        return await count_tokens(provider, whole), {}
    except UsageError as error:
        work = partial(request_tokens, whole)
        return await run_beside(weight(whole), work), {
            "x-toolspan-warning": f"the tokens are estimated: {error.message}"[:1_000]
        }
