"""The reply of a deployment as that of the model which it stands for."""

from __future__ import annotations

from dataclasses import replace

from ...formats import called_tool
from ...messages import Reply, Request
from ..prices import Pricing

__all__ = ["with_cost", "with_restored"]


def with_cost(reply: Reply, pricing: Pricing, share: float) -> Reply:
    """``reply`` whose usage says what it cost in US dollars, as far as that is known: who asks for the model
    does not know which deployment answered."""
    usd = 0.0 if pricing.is_free else pricing.cost(reply.usage)
    first, *others = [{**each} for each in reply.usage.raw] or [{}]
    for raw in (first, *others):
        raw.pop("cost", None)
        if usd is not None:
            raw["cost"] = 0.0
    if usd is not None:
        first["cost"] = usd * share
    first["deployment"] = pricing.model
    return replace(reply, usage=replace(reply.usage, raw=(first, *others)))


def with_restored(reply: Reply, request: Request, format_name: str) -> Reply:
    """``reply`` whose arguments are as the tools' own schemas have them, whatever the format changed."""
    if not format_name or not reply.message.calls:
        return reply
    calls = tuple(
        replace(call, arguments=meant[1])
        if (meant := called_tool(call, request.tools, format_name))
        else call
        for call in reply.message.calls
    )
    return replace(reply, message=replace(reply.message, calls=calls))
