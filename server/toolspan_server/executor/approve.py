"""The step that asks a person before the tool runs."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import TYPE_CHECKING, Any

from .._plain import shortened
from ..client import Question
from ..context import Context
from ..errors import ToolFailure
from ._chain import Step

if TYPE_CHECKING:
    from ..config._tool_options import ApprovalConfig

_MEMORY = "dev.toolspan/approved"
_SHOWN = 1_000
_LONGEST_MESSAGE = 4_000
_NO_FIELDS: dict[str, Any] = {"type": "object", "properties": {}}


def approved(following: Step, approval: ApprovalConfig, title: str) -> Step:
    """Run ``following`` only when the person behind the client accepts; ``title`` names the tool to them.

    They are asked by elicitation; accepting is yes, everything else, and no answer in time, is no. A client
    that cannot elicit gets ``approval_required``, and a call that was not allowed ``denied``: the tool has
    not started then. In one call, equal arguments of one tool are asked about once.
    """

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        key = _key(context.tool_name, arguments)
        if key not in context.client.memory.get(_MEMORY, ()):
            await _ask(key, _message(approval, title, arguments), approval.timeout_ms, context)
            context.client.memory[_MEMORY] = [*context.client.memory.get(_MEMORY, ()), key]
        return await following(arguments, context)

    return step


async def _ask(key: str, message: str, timeout_ms: int, context: Context) -> None:
    """Return when the person accepts. Raises ``ToolFailure``, or ``InputRequired`` as ``Client.ask`` does."""
    if not context.client.accepts("elicitation"):
        raise ToolFailure(
            f"A person has to allow each call of '{context.tool_name}', and the client cannot ask one",
            error_code="approval_required",
            user_action="Use a client that supports elicitation, or another tool.",
        )
    question = Question("elicitation", {"mode": "form", "message": message, "requestedSchema": _NO_FIELDS})
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            answers = await context.client.ask({key: question})
    except TimeoutError:
        raise _denied(f"nobody answered within {timeout_ms / 1000:g} seconds") from None
    action = answers[key].get("action")
    if action != "accept":
        raise _denied("the person declined" if action == "decline" else "the person did not answer")


def _denied(why: str) -> ToolFailure:
    return ToolFailure(
        f"The call was not allowed: {why}",
        error_code="denied",
        user_action="Do not call it again unless the person asks for it.",
    )


def _key(name: str, arguments: dict[str, Any]) -> str:
    written = json.dumps([name, arguments], sort_keys=True)
    return "approve-" + hashlib.sha256(written.encode()).hexdigest()[:32]


def _message(approval: ApprovalConfig, title: str, arguments: dict[str, Any]) -> str:
    if approval.message is None:
        shown = shortened(json.dumps(arguments, ensure_ascii=False), _SHOWN)
        return f"Allow the tool '{title}' to run with {shown}?"
    from ..templates import Template

    message = Template.parse(approval.message).render({**arguments, "arguments": arguments})
    shown = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
    return shortened(shown, _LONGEST_MESSAGE)
