"""Names of a server's tools in what a model is sent, and back."""

from __future__ import annotations

from dataclasses import replace

from ...formats import called_tool
from ...formats.names import NameTable
from ...messages import Assistant, Message, Reply, Request, ToolCall


def on_the_wire(request: Request) -> Request:
    """``request`` with the calls in its messages under the names that its tools have for models."""
    names = NameTable.of(request.tools)
    known = {tool.name: names.wire(tool) for tool in names.tools}

    def renamed(message: Message) -> Message:
        if not isinstance(message, Assistant) or not message.calls:
            return message
        calls = tuple(replace(call, name=known.get(call.name, call.name)) for call in message.calls)
        return replace(message, calls=calls)

    return replace(request, messages=tuple(map(renamed, request.messages)))


def restored(reply: Reply, request: Request, format_name: str) -> Reply:
    """``reply`` with the names and arguments that the server knows."""

    def own(call: ToolCall) -> ToolCall:
        meant = called_tool(call, request.tools, format_name)
        if meant is None or meant[1] is None:
            return call
        return replace(call, name=meant[0].name, arguments=meant[1])

    message = replace(reply.message, calls=tuple(map(own, reply.message.calls)))
    return replace(reply, message=message)
