"""``Client``, for each era: what a tool, prompt or resource may say to its client, and ask of it.

Importing this room imports ``mcp``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ...calls.client import Client, InputRequired
from ..messages.wire import MODERN
from ..state.running_calls import WaitForClient
from ._error_responses import offered, refusals
from ._handshake import HandshakeClient
from ._principal import origin, principal
from ._progress import ProgressClient, RequestContext, capabilities_of
from ._questions import fault_in, rendered
from ._request_state import sealing
from ._round_trips import RoundsClient, missing_capability
from ._task import LateTaskClient, TaskClient

__all__ = [
    "HandshakeClient",
    "LateTaskClient",
    "ProgressClient",
    "RequestContext",
    "RoundsClient",
    "TaskClient",
    "answered",
    "capabilities_of",
    "fault_in",
    "missing_capability",
    "offered",
    "origin",
    "principal",
    "refusals",
    "rendered",
    "sealing",
]


async def answered(
    context: RequestContext,
    work: Callable[[Client], Awaitable[dict[str, Any]]],
    *,
    wait_for_client: WaitForClient,
) -> dict[str, Any]:
    """The result of ``work``, which may ask the client of the request; or an ``InputRequiredResult``.

    For ``tools/call``, ``prompts/get`` and ``resources/read``, which alone may be answered so::

        async def get_prompt(context, params):
            async def work(client):
                answers = await client.ask({"topic": Question("elicitation", {...})})
                return render(answers)
            return await answered(context, work, wait_for_client=calls.wait_without_slot)

    Where the client answers at once, ``ask`` waits; else ``work`` runs again, from its start, in the client's
    next request. ``RequestRefused``, ``ProtocolFault`` and ``Busy`` become JSON-RPC errors.
    """
    client: HandshakeClient | RoundsClient
    client = (
        RoundsClient(context)
        if context.protocol_version in MODERN
        else HandshakeClient(context, wait_for_client)
    )
    with refusals():
        try:
            return await work(client)
        except InputRequired as needed:
            assert isinstance(client, RoundsClient)
            return client.required(needed)
