"""``/usage``: what each model used of tokens, and what it cost."""

from __future__ import annotations

from .....providers.prices import usd_text
from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    del argument
    conversation = chat.saved.conversation
    for model, use in conversation.models.items():
        cached = f" ({use.cached_tokens:,} of them cached)" if use.cached_tokens else ""
        tokens = f"{use.input_tokens:,} tokens in{cached}, {use.output_tokens:,} out"
        print_note(f"{model}: {_count(use.requests, 'request')}, {tokens}, {usd_text(use.usd)}")
    known = sum(use.input_tokens + use.output_tokens for use in conversation.models.values())
    if conversation.tokens > known:
        print_note(
            f"{conversation.tokens - known:,} more tokens are estimated, or of before models were noted"
        )
    print_note(
        f"in all: {conversation.tokens:,} tokens, {_count(conversation.calls, 'tool call')}, "
        f"{conversation.seconds:.1f} s, {usd_text(conversation.usd)}"
    )


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


COMMAND = Command("usage", "", "shows the tokens and the cost of each model", _run)
