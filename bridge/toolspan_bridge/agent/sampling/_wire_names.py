"""Names of a server's tools in what a model is sent, and back."""

from __future__ import annotations

from dataclasses import replace

from ...formats import get_format
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
    names = NameTable.of(request.tools)
    format_ = get_format(format_name) if format_name else None

    def own(call: ToolCall) -> ToolCall:
        tool = names.called(call.name)
        if tool is None or call.arguments is None:
            return call
        arguments = call.arguments if format_ is None else format_.restore(tool, call.arguments)
        return replace(call, name=tool.name, arguments=arguments)

    message = replace(reply.message, calls=tuple(map(own, reply.message.calls)))
    return replace(reply, message=message)
