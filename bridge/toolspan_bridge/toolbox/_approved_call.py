"""A call of our own server that was approved here: tools with ``approval`` ask for that by elicitation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolspan_server.engines.upstreams import (
    Connection,
    InputNeeded,
    InputResponses,
    UpstreamResult,
)

_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_ASKING: Mapping[str, Any] = {_CAPABILITIES: {"elicitation": {"form": {}}}}
_KEY = "approve-"
"""What the key of the server's question begins with."""


async def approved_call(
    connection: Connection, name: str, arguments: Mapping[str, Any], meta: Mapping[str, Any], timeout: float
) -> UpstreamResult | InputNeeded:
    """The answer to a call that was allowed with these ``arguments``; ``meta`` is its ``_meta``.

    Raises what ``Connection.call`` does.

    The tool's own question, the first and only one of the first round, is accepted. Any other is about
    something else, as a tool that this one calls, which nobody allowed here: it is given back.
    """
    meta = {**meta, **_ASKING}
    answer = await connection.call(name, arguments, meta=meta, timeout=timeout)
    if not isinstance(answer, InputNeeded) or not _asks_for_approval(answer):
        return answer
    accepted: dict[str, Any] = {"action": "accept", "content": dict[str, Any]()}
    again = InputResponses(dict.fromkeys(answer.requests, accepted), answer.state)
    return await connection.call(name, arguments, meta=meta, again=again, timeout=timeout)


def _asks_for_approval(answer: InputNeeded) -> bool:
    return len(answer.requests) == 1 and all(
        key.startswith(_KEY) and request.get("method") == "elicitation/create"
        for key, request in answer.requests.items()
    )
