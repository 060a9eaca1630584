"""Tools, calls and results as plain text in a request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...messages import (
    Assistant,
    Message,
    Request,
    ToolSpec,
    User,
)
from ..names import NameTable
from ..shared.contract import Loss
from ..shared.conversation.history import (
    AssistantTurn,
    UserTurn,
    turns,
)
from ..shared.json_values import compact
from ..shared.schemas import Plan
from ..shared.tools.choice import must_call
from ..shared.tools.compile import CompiledTools, compile_tools
from ..shared.tools.compile import restore as restore_tool
from .parse import WITH_WRITTEN_CALLS
from .renderings import as_user
from .wordings import Wording, describe

PLAN = Plan()
_ANY_ID = re.compile(r".*", re.DOTALL)
_MUST_CALL = "Answer with a call of one of the tools."
_MUST_CALL_IT = "Answer with a call of the tool {}."
_ONE_CALL = "Make at most one call in an answer."


def compiled(tools: Sequence[ToolSpec], names: NameTable) -> CompiledTools:
    """``tools``, their schemas as they are."""
    return compile_tools(tools, names, PLAN)


def losses(tools: Sequence[ToolSpec]) -> list[Loss]:
    """What a description in words cannot say of ``tools``."""
    return list(compiled(tools, NameTable.of(tools)).losses)


def restore(tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Unwrapped, and whole floats as integers."""
    return restore_tool(tool, arguments, PLAN)


def render_tools(tools: Sequence[ToolSpec], names: NameTable, wording: Wording) -> str:
    """The part of the system prompt that describes ``tools``; empty when there are none."""
    return describe(wording, compiled(tools, names))


def plain_request(request: Request, names: NameTable, wording: Wording, base: str) -> Request:
    """``request`` in plain text: no tools, no calls, no results; the tools described by ``wording``. Turns
    keep what the format ``base`` has to send back with them.
    """
    tools = () if request.tool_choice == "none" else request.tools
    system = [request.system, render_tools(tools, names, wording), *_instructions(request, names)]
    return replace(
        request,
        messages=tuple(_messages(request, base)),
        system="\n\n".join(filter(None, (part.strip() for part in system))),
        tools=(),
        tool_choice="auto",
        parallel=None,
        answer_schema=None if tools else request.answer_schema,
    )


def _instructions(request: Request, names: NameTable) -> Iterator[str]:
    """What else the system prompt asks of the model, where the API cannot enforce it."""
    if not request.tools or request.tool_choice == "none":
        return
    sent = (tool.name for tool in compiled(request.tools, names).tools)
    name = must_call(request.tool_choice, sent, names)
    if name is not None:
        yield _MUST_CALL_IT.format(name)
    elif request.tool_choice == "required":
        yield _MUST_CALL
    if request.parallel is False:
        yield _ONE_CALL


def _messages(request: Request, base: str) -> Iterator[Message]:
    for turn in turns([_in_base(message, base) for message in request.messages], _ANY_ID, base):
        if isinstance(turn, UserTurn):
            yield User(turn.text, turn.parts)
        elif isinstance(turn, AssistantTurn):
            yield _said(turn)
        else:
            results = ((call.name, outcome) for call, outcome in turn.results)
            yield as_user(results, request)


def _in_base(message: Message, base: str) -> Message:
    """``message`` with its state as ``base`` knows it; without, where its calls came by their own channel."""
    if not isinstance(message, Assistant) or message.opaque is None:
        return message
    written = message.opaque_format == f"{WITH_WRITTEN_CALLS}{base}"
    if written or (message.opaque_format == base and not message.calls):
        return replace(message, opaque_format=base)
    return replace(message, opaque=None, opaque_format="")


def _said(turn: AssistantTurn) -> Assistant:
    said = turn.message
    if said.written:
        return replace(said, text=said.written, calls=(), written="")
    written = _written_calls(turn)
    return replace(said, text="\n\n".join(filter(None, (said.text.strip(), *written))), calls=())


def _written_calls(turn: AssistantTurn) -> Iterator[str]:
    """The calls as the model should have written them; what it wrote where that cannot be read."""
    for call, made in zip(turn.calls, turn.message.calls, strict=True):
        whole = compact({"name": call.name, "arguments": call.arguments})
        yield f"<tool_call>\n{made.raw if made.arguments is None and made.raw else whole}\n</tool_call>"
