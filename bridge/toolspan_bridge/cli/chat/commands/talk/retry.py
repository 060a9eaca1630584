"""``/retry [MODEL]``: asks the last question again."""

from __future__ import annotations

from dataclasses import replace

from .....conversation.retry import last_question, without_last_question
from .....messages import ToolResults
from .....sessions.named.mentions import Asked
from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command
from ..answers.model import check_model, model_words


async def _run(chat: Chat, argument: str) -> None:
    options = chat.options
    if argument:
        await check_model(chat, argument)
        chat.options = replace(options, model=argument)
    try:
        await _again(chat)
    finally:
        chat.options = replace(chat.options, model=options.model)


async def _again(chat: Chat) -> None:
    if chat.unanswered is not None:
        await chat.answer(chat.unanswered)
        return
    conversation = chat.saved.conversation
    _, question = last_question(conversation)
    try:
        with chat.saved.written(), without_last_question(conversation) as dropped:
            conversation.note("retry", {"messages": len(dropped)})
            if any(isinstance(message, ToolResults) for message in dropped):
                print_note("what its calls did stays done; /undo takes back changes of files")
            await chat.answer(Asked.again(question))
    finally:
        chat.unanswered = None  # where nothing came of it, the last answer is there again


COMMAND = Command(
    "retry",
    "[MODEL]",
    "asks the last question again, of MODEL for once; the log keeps the last answer",
    _run,
    model_words,
)
