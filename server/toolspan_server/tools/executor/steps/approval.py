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
from ....errors import ToolFailure
from ..step import Step, StepInputs

if TYPE_CHECKING:
    from ....config import ToolConfig
    from ....config.models.tool_options import ApprovalConfig
    from ....engines.definitions.call_preview import CallPreview
    from ...registry import Tool

ORDER = 20

_MEMORY = "dev.toolspan/approval"
_LONGEST_MESSAGE = 50_000
_NO_FIELDS: dict[str, Any] = {"type": "object", "properties": {}}


def build(following: Step, inputs: StepInputs) -> Step:
    """For tools with the key ``approval``."""
    config = inputs.tool.config
    assert config.approval is not None
    return approved(following, config.approval, inputs.tool, digest(config))


def approved(following: Step, approval: ApprovalConfig, tool: Tool, definition: str) -> Step:
    """Run ``following`` only when the person at the client accepts what ``tool`` says that it would do.

    The person is asked by elicitation; only accepting is a yes: any other answer, or none in time, is a no. A
    client without elicitation gets ``approval_required``, a call that was not approved ``denied``; the tool
    has not started then. Within one call, equal arguments of one tool are asked about once. The approval is
    for that call alone, for the tool's ``definition`` at that time, and for what was shown: where the call
    would do something else by then, it is refused.
    """
    from .._previews import changed_since_shown, preview_of

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        _check_can_ask(context)
        notes: dict[str, Any] = context.client.memory.setdefault(_MEMORY, {})
        shown = (await preview_of(tool, arguments, context)).headed(_title(approval, tool.config, arguments))
        subject = _subject(context.tool_name, arguments, definition, shown.digest)
        note: dict[str, Any] = notes.setdefault(subject, {"key": f"approve-{secrets.token_hex(16)}"})
        await _ask(note, _message(shown, context), approval.timeout_ms / 1000, context)
        note["accepted"] = True
        if tool.has_preview and (await preview_of(tool, arguments, context)).digest != shown.digest:
            raise changed_since_shown()
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


def _check_can_ask(context: Context) -> None:
    if not context.client.accepts("elicitation"):
        raise ToolFailure(
            f"A person has to allow each call of '{context.tool_name}', and the client cannot ask one",
            error_code="approval_required",
            user_action="Use a client that supports elicitation, or another tool.",
        )


def _unanswered(seconds: float) -> ToolFailure:
    return _denied(f"nobody answered within {seconds:g} seconds")


def _denied(why: str) -> ToolFailure:
    return ToolFailure(
        f"The call was not allowed: {why}",
        error_code="denied",
        user_action="Do not call it again unless the person asks for it.",
    )


def _subject(name: str, arguments: dict[str, Any], definition: str, shown: str) -> str:
    written = json.dumps([name, arguments, definition, shown], sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()


def _message(shown: CallPreview, context: Context) -> str:
    """What the client is to show: all of ``shown``. Raises ``ToolFailure`` where that is too long."""
    from ....engines.definitions.call_preview import SHOWN_META

    message = shown.as_text()
    if len(message) <= _LONGEST_MESSAGE:
        return message
    if SHOWN_META in context.meta:
        return f"{shown.title} (Your client has shown the call: it is too long for this message.)"
    raise ToolFailure(
        f"The call of '{context.tool_name}' is too long to be shown to the person who has to allow it: "
        f"{len(message):,} characters of at most {_LONGEST_MESSAGE:,}",
        error_code="too_long_to_show",
        user_action="Do it in smaller calls.",
    )


def _title(approval: ApprovalConfig, config: ToolConfig, arguments: dict[str, Any]) -> str:
    """The question: the config's own words, or the tool's name."""
    if approval.message is None:
        return f"Allow the tool '{config.title or config.display_name or config.name}' to run?"
    from ....engines.templates import Template

    message = Template.parse(approval.message).render({**arguments, "arguments": arguments})
    return message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
