"""Anthropic's count of a request's tokens (``POST /v1/messages/count_tokens``)."""

from __future__ import annotations

from contextlib import AsyncExitStack
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
from .choosing import choice_of
from .exchange import Answering, while_connected
from .running import Origin, Run
from .sending import body_of, headers_of_fault, send_json

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

__all__ = ["TokenCount"]


class TokenCount:
    """The ASGI endpoint: the provider's own count, else an estimate, which a header says. It is one of the
    requests that ``answering`` admits, and is given up when its client goes."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        from starlette.requests import Request

        async with AsyncExitStack() as stack:
            try:
                run = await self._begun(Request(scope, receive), stack)
            except (BridgeError, RequestFault) as error:
                await _send_fault(send, error)
                return
            await while_connected(receive, lambda: _answer(run, send))

    async def _begun(self, request: Request, stack: AsyncExitStack) -> Run:
        caller = self._answering.who(request)
        body, size = await body_of(request)
        asked = await run_beside(size, lambda: parse_request(body, counts=True))
        choice = choice_of(asked.model, request.headers)
        origin = Origin(caller, request.url.path, Began())
        run = await stack.enter_async_context(self._answering.runs.begin(MESSAGES, asked, choice, origin))
        stack.enter_context(self._answering.admission.entered(caller.principal))
        return run


async def _answer(run: Run, send: Send) -> None:
    try:
        tokens, warning = await _count(run)
    except (BridgeError, RequestFault) as error:
        await _send_fault(send, error)
        return
    await send_json(send, {"input_tokens": tokens}, headers=warning)


async def _send_fault(send: Send, error: BridgeError | RequestFault) -> None:
    fault = fault_in(error)
    await send_json(send, render_error(fault), fault.status, headers_of_fault(fault))


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
