"""``/limits [NAME=NUMBER]``: what a question and the conversation may use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .....errors import UsageError
from .....loop import Limits
from .....loop.limits import amount_of
from .....sessions.chosen.limits import LimitChoice
from ....inputs.limits import NAMES
from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command

_CONVERSATION = "conversation."
_ITERATIONS = "iterations"
_EVERY = (*NAMES, _ITERATIONS, *(f"{_CONVERSATION}{name}" for name in NAMES))


async def _run(chat: Chat, argument: str) -> None:
    for word in argument.split():
        chat.limits = _with(chat.limits, word)
    question, _ = await chat.routed("")
    question = chat.limits.applied_to(question)
    conversation = chat.saved.conversation
    print_note(f"a question: {_shown(question.limits)}, {question.max_iterations} iterations with tools")
    print_note(
        f"the conversation: {_shown(question.conversation_limits)} (used: {conversation.calls:,} calls, "
        f"{conversation.tokens:,} tokens, {conversation.seconds:.1f} seconds)"
    )


def _with(limits: LimitChoice, word: str) -> LimitChoice:
    name, equals, written = word.partition("=")
    value = None if written == "off" else amount_of(name.removeprefix(_CONVERSATION), written)
    is_wrong = not equals or name not in _EVERY or (value is None and written != "off")
    if is_wrong or (name == _ITERATIONS and value is None):
        raise UsageError(
            f"/limits: {word!r} must be NAME=NUMBER or NAME=off, a name of {', '.join(_EVERY)}, as in "
            "calls=50 or conversation.usd=1.50; iterations are always limited"
        )
    if name == _ITERATIONS:
        return replace(limits, iterations=int(value or 0))
    if name.startswith(_CONVERSATION):
        bare = name.removeprefix(_CONVERSATION)
        return replace(limits, conversation={**limits.conversation, bare: value})
    return replace(limits, question={**limits.question, name: value})


def _shown(limits: Limits) -> str:
    found = {name: getattr(limits, name) for name in NAMES}
    named = [f"{name} {value:,g}" for name, value in found.items() if value is not None]
    return ", ".join(named) or "no limit of calls, tokens, usd or seconds"


async def _words(chat: Chat, before: tuple[str, ...], typed: str) -> Iterable[str]:
    del chat, before, typed
    return [f"{name}=" for name in _EVERY]


COMMAND = Command(
    "limits", "[NAME=NUMBER …]", "shows the limits, or sets them for this chat (NAME=off: none)", _run, _words
)
