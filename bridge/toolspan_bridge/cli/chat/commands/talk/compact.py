"""``/compact``: the model summarises the conversation, and is sent the summary in its place."""

from __future__ import annotations

from .....loop import compact
from .....loop.limits import spending_within
from ....terminal.costs import cost_line
from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    del argument
    conversation = chat.saved.conversation
    question, provider = await chat.routed("")
    question = chat.limits.applied_to(question)
    meter = chat.asker.meter(question, provider)
    spending = spending_within(question.limits, question.conversation_limits, conversation)
    provider = spending.charged(provider, meter.pricing, question.model)
    with chat.saved.written():
        compacted = await compact(conversation, provider, question.model)
        if compacted.messages:
            meter.add(compacted.usage)
            conversation.spend(meter.usd)
            conversation.count(meter.pricing.model, compacted.usage, meter.usd)
            conversation.tokens += compacted.usage.input_tokens + compacted.usage.output_tokens
            conversation.record()
    if not compacted.messages:
        print_note("there is nothing to summarise yet")
        return
    print_note(
        f"a summary of {compacted.messages} messages is sent in their place from here on; "
        "the conversation keeps them"
    )
    if meter.may_be_known:
        print_note(cost_line(meter.usd, conversation.usd, chat=True))


COMMAND = Command("compact", "", "has the model summarise what was said, and goes on with the summary", _run)
