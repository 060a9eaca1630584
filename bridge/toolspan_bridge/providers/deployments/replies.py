"""The reply of a deployment as that of the model which it stands for."""

from __future__ import annotations

from dataclasses import replace

from ...formats import get_format
from ...formats.names import NameTable
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
    table, restore = NameTable.of(request.tools), get_format(format_name).restore
    calls = tuple(
        call
        if (spec := table.called(call.name)) is None or call.arguments is None
        else replace(call, arguments=restore(spec, call.arguments))
        for call in reply.message.calls
    )
    return replace(reply, message=replace(reply.message, calls=calls))
