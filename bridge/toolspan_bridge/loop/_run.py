"""The loop itself."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from ..events import (
    Answer,
    End,
    Event,
    IterationStarted,
    Notice,
    Text,
    ToolCallFinished,
    ToolCallStarted,
    ToolUse,
    UsageReported,
)
from ..messages import Assistant, Message, Reply, Request, ToolResults, Usage, User
from ..providers import Provider
from ..toolbox import Toolbox
from ._desk import Desk

LIMIT_REACHED = "I reached the maximum number of tool calls. Please try rephrasing your request."

_EMPTY = {
    "length": "The model's answer was cut off before its first word: raise max_tokens.",
    "refusal": "The model refused to answer.",
}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of whom. ``model`` is the model's name at its provider; ``allowed_tools`` are tools' own
    names, ``None`` for all; ``max_iterations`` counts the turns in which tools may be called."""

    text: str
    model: str
    system: str = ""
    allowed_tools: tuple[str, ...] | None = None
    max_iterations: int = 5
    max_tokens: int | None = None
    temperature: float | None = None


async def run(
    question: Question, provider: Provider, toolbox: Toolbox, transcript: list[Message] | None = None
) -> AsyncGenerator[Event]:
    """Answer ``question``, telling what happens; the last event is ``End``.

    ``transcript`` holds what was said before and grows by what is said now. It is whole at any moment: every
    call in it has its result, also when the run is cancelled in the middle of one.

    Raises what ``provider.answer`` raises. What a tool or the model does wrong is told to the model instead.
    """
    said = transcript if transcript is not None else []
    pending: list[Message] = [User(question.text)]
    desk = Desk(toolbox, question.allowed_tools, provider.format_name)
    uses: list[ToolUse] = []
    spent = Usage()
    iteration = 0
    while True:
        closing = iteration == question.max_iterations
        iteration += not closing
        yield IterationStarted(iteration, closing)
        reply = await provider.answer(_request(question, (*said, *pending), desk, closing=closing))
        spent += reply.usage
        yield UsageReported(reply.usage, iteration)
        if text := reply.message.text or (LIMIT_REACHED if closing else ""):
            yield Text(text, iteration)
        if closing or not reply.message.calls:
            break
        turn = desk.turn(reply)
        for call in turn.calls:
            yield ToolCallStarted(call.id, call.server, call.tool, call.arguments, iteration)
        try:
            await turn.perform(toolbox)
        finally:
            said += [*pending, turn.message, ToolResults(turn.outcomes())]
            pending = []
        for call, outcome in zip(turn.calls, turn.outcomes(), strict=True):
            uses.append(ToolUse(call.tool, call.arguments, outcome.result, iteration))
            yield ToolCallFinished(call.id, call.server, call.tool, outcome, iteration)
    said += [*pending, _last_word(reply, text)]
    if notice := _notice(reply, closing=closing):
        yield Notice(notice)
    named = (question.model, provider.name)
    yield End(Answer(text, *named, tuple(uses), spent, iteration, closing, desk.stopped_a_repeat))


async def answer(
    question: Question, provider: Provider, toolbox: Toolbox, transcript: list[Message] | None = None
) -> Answer:
    """The answer alone, as ``run`` ends with it."""
    async with aclosing(run(question, provider, toolbox, transcript)) as events:
        async for event in events:
            if isinstance(event, End):
                return event.answer
    raise AssertionError("a run ends with End")


def _request(question: Question, messages: tuple[Message, ...], desk: Desk, *, closing: bool) -> Request:
    return Request(
        model=question.model,
        messages=messages,
        system=question.system,
        tools=desk.tools,
        tool_choice="none" if closing else "auto",
        max_tokens=question.max_tokens,
        temperature=question.temperature,
    )


def _last_word(reply: Reply, text: str) -> Assistant:
    """The closing message: without calls, for they would stay unanswered."""
    return Assistant(text) if reply.message.calls or not reply.message.text else reply.message


def _notice(reply: Reply, *, closing: bool) -> str:
    if closing:
        return "The maximum number of iterations with tools was reached."
    if not reply.message.text:
        return _EMPTY.get(reply.stop, "The model gave an empty answer.")
    return "The answer was cut off: raise max_tokens." if reply.stop == "length" else ""
