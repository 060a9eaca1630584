"""The exact payload of one tool in every format, with what each loses of it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ...findings import asked_losses
from ...formats import format_names, get_format
from ...formats.names import NameTable
from ..endpoint import Answer, Call
from ._tool_call import tool_of


class LossInfo(Answer):
    """What a format cannot express of a tool."""

    pointer: str
    rule: str
    repair: str
    severity: str


class Payload(Answer):
    """A tool as a request in ``format`` carries it."""

    format: str
    payload: Any = Field(description="Exactly what is sent.")
    losses: list[LossInfo]


class Payloads(Answer):
    """A tool in every format."""

    payloads: list[Payload]


async def payloads(call: Call) -> Payloads:
    """The tool in each format."""
    session = call.app.live.current.session
    tool = tool_of(session, call.path["server"], call.path["name"])
    return Payloads(
        payloads=[
            Payload(
                format=name,
                payload=get_format(name).render_tools((tool,), NameTable.of((tool,))),
                losses=[
                    LossInfo(pointer=each.pointer, rule=each.rule, repair=each.repair, severity=each.severity)
                    for each in asked_losses(name, (tool,))
                ],
            )
            for name in format_names()
        ]
    )
