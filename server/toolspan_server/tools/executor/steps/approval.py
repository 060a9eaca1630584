"""A person approves each call, also those with a cached result; the timeout does not run meanwhile."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import secrets
import time
from typing import TYPE_CHECKING, Any

from ....calls.client import InputRequired, Question
from ....calls.context import Context
from ....common.json_values import shortened
from ....errors import ToolFailure
from ..step import Step, StepInputs

if TYPE_CHECKING:
    from ....config import ToolConfig
    from ....config.models.tool_options import ApprovalConfig

ORDER = 20

_MEMORY = "dev.toolspan/approval"
_SHOWN = 1_000
_LONGEST_MESSAGE = 4_000
_NO_FIELDS: dict[str, Any] = {"type": "object", "properties": {}}


def build(following: Step, inputs: StepInputs) -> Step:
    """For tools with the key ``approval``."""
    config = inputs.tool.config
    assert config.approval is not None
    title = config.title or config.display_name or config.name
    return approved(following, config.approval, title, digest(config))


def approved(following: Step, approval: ApprovalConfig, title: str, definition: str) -> Step:
    """Run ``following`` only when the person at the client accepts; the question calls the tool ``title``.

    The person is asked by elicitation; only accepting is a yes: any other answer, or none in time, is a no. A
    client without elicitation gets ``approval_required``, a call that was not approved ``denied``; the tool
    has not started then. Within one call, equal arguments of one tool are asked about once. The approval is
    for that call alone, and for the tool's ``definition`` at that time.
    """

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        notes: dict[str, Any] = context.client.memory.setdefault(_MEMORY, {})
        subject = _subject(context.tool_name, arguments, definition)
        note: dict[str, Any] = notes.setdefault(subject, {"key": f"approve-{secrets.token_hex(16)}"})
        await _ask(note, _message(approval, title, arguments), approval.timeout_ms / 1000, context)
        note["accepted"] = True
        return await following(arguments, context)

    return step


def digest(config: ToolConfig) -> str:
    """A digest that changes whenever the tool does."""
    return hashlib.sha256(repr(config).encode("utf-8", "backslashreplace")).hexdigest()


async def _ask(note: dict[str, Any], message: str, seconds: float, context: Context) -> None:
    """Return when the person accepts. Raises ``ToolFailure``, or ``InputRequired`` as ``Client.ask`` does.

    ``note`` is kept until the client comes back with the answer: its ``key`` identifies the question without
    revealing it; the answer has to arrive before ``until``, in seconds since 1970.
    """
    if not context.client.accepts("elicitation"):
        raise ToolFailure(
            f"A person has to allow each call of '{context.tool_name}', and the client cannot ask one",
            error_code="approval_required",
            user_action="Use a client that supports elicitation, or another tool.",
        )
    params = {"mode": "form", "message": message, "requestedSchema": _NO_FIELDS}
    key: str = note["key"]
    try:
        async with asyncio.timeout(seconds):
            answers = await context.client.ask({key: Question("elicitation", params, once=True)})
    except TimeoutError:
        raise _unanswered(seconds) from None
    except InputRequired:
        note.pop("accepted", None)
        note["until"] = time.time() + seconds
        raise
    if "accepted" not in note and time.time() > note.get("until", math.inf):
        raise _unanswered(seconds)
    action = answers[key].get("action")
    if action != "accept":
        raise _denied("the person declined" if action == "decline" else "the person did not answer")


def _unanswered(seconds: float) -> ToolFailure:
    return _denied(f"nobody answered within {seconds:g} seconds")


def _denied(why: str) -> ToolFailure:
    return ToolFailure(
        f"The call was not allowed: {why}",
        error_code="denied",
        user_action="Do not call it again unless the person asks for it.",
    )


def _subject(name: str, arguments: dict[str, Any], definition: str) -> str:
    written = json.dumps([name, arguments, definition], sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()


def _message(approval: ApprovalConfig, title: str, arguments: dict[str, Any]) -> str:
    if approval.message is None:
        shown = shortened(json.dumps(arguments, ensure_ascii=False), _SHOWN)
        return f"Allow the tool '{title}' to run with {shown}?"
    from ....engines.templates import Template

    message = Template.parse(approval.message).render({**arguments, "arguments": arguments})
    shown = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
    return shortened(shown, _LONGEST_MESSAGE)
