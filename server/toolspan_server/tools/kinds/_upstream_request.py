"""A request of an upstream that may ask meanwhile, as a call of a tool may: ``prompts/get``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import override

from ...calls.caller import Origin
from ...calls.client import Client
from ...calls.context import Context
from ...engines.upstreams import CallRefused, InputNeeded, InputResponses, UpstreamResult
from ...errors import RequestRefused, ToolFailure, ToolspanError
from ._upstream_call import UpstreamCall

if TYPE_CHECKING:
    from ..services._upstreams import Upstream

_INTERNAL_ERROR = -32603
_SECONDS = 30.0


async def upstream_request(
    upstream: Upstream, method: str, params: Mapping[str, Any], client: Client, origin: Origin
) -> dict[str, Any]:
    """The result of ``method`` at ``upstream``, whose questions go to ``client``.

    Raises ``RequestRefused`` with the upstream's own code and words, and what ``Client.ask`` raises.
    """
    request = _Request(upstream, method, params, Context(origin, client=client))
    try:
        answer = await request.result()
    except ToolFailure as failure:
        raise RequestRefused(_INTERNAL_ERROR, failure.error) from None
    except TimeoutError:
        message = f"Upstream '{upstream.name}' did not answer within {_SECONDS:g} s"
        raise RequestRefused(_INTERNAL_ERROR, message) from None
    return cast("dict[str, Any]", answer.structured)


class _Request(UpstreamCall):
    """One request of the method that stands in the place of the tool, with the params as arguments."""

    @override
    async def _asked(self, again: InputResponses | None, call_id: str) -> UpstreamResult | InputNeeded:
        params = dict(self._arguments)
        if again is not None:
            params |= {"inputResponses": dict(again.responses)} if again.responses else {}
            params |= {"requestState": again.state} if again.state is not None else {}
        connection = await self._upstream.connection_of_caller(self._context.origin)
        result = await connection.request(self._tool, params, timeout=_SECONDS)
        if result.get("resultType") == "input_required":
            requests: Any = result.get("inputRequests") or {}
            return InputNeeded(requests, result.get("requestState"))
        return UpstreamResult([], structured=result, has_structured=True)

    @override
    def _refused(self, error: CallRefused) -> ToolspanError:
        return RequestRefused(error.code, str(error), error.data)
