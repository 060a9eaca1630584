"""The loop: asks the model, runs its tool calls, and asks again until it answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import replace

from ..approvals import Approver, Unattended
from ..conversation import Conversation
from ..events import (
    Answer,
    End,
    Event,
    IterationStarted,
    Notice,
    Text,
    ToolCallStarted,
    ToolUse,
    UsageReported,
)
from ..formats import mixes_builtins, takes_answer_schema
from ..messages import (
    Assistant,
    Citation,
    Message,
    Reply,
    Request,
    ToolResults,
    Usage,
    User,
)
from ..providers import Provider
from ..toolbox import Toolbox
from ._answer_schema import AnswerSchema, CheckedAnswer
from ._ending import MAX_PAUSES, ending
from ._model_turn import ModelTurn
from ._offer import Offer
from ._question import Question
from ._requests import Requests
from ._tool_calls import ToolCallReader

_MALFORMED_AGAIN = 2
LIMIT_REACHED = "I reached the maximum number of tool calls. Please try rephrasing your request."


Transcript = Conversation | list[Message]
"""The earlier messages: with what their requests began with, or alone."""


async def run(
    question: Question,
    provider: Provider,
    toolbox: Toolbox,
    transcript: Transcript | None = None,
    *,
    approver: Approver | None = None,
) -> AsyncGenerator[Event]:
    """Answer ``question`` and yield each event; the last one is ``End``.

    ``transcript`` holds the earlier messages, and the new ones are added. It is consistent at any moment:
    every call in it has its result, also when the run is cancelled during one. A streamed answer that was
    cancelled stays in it as far as it was received, marked ``incomplete``.

    The requests to one model in a ``Conversation`` begin all alike, with the system prompt and the tools of
    the first question: another system prompt comes as a message of the user, further tools come last, and
    what a question does not allow is refused. A list of messages begins anew with each question.

    The calls of a turn that broke off are never run. If such a turn has no usable answer (no text, or calls
    after it), the model is asked once more; if its call could not be read, twice. Otherwise its text is the
    answer, marked ``incomplete``.

    ``approver`` decides about each call that needs approval; without one, calls of tools that are
    destructive, or say that they need approval, are denied.

    Raises what the provider raises. An error of a tool or in a call is a result for the model.
    """
    if not isinstance(transcript, Conversation):
        transcript = Conversation.over([] if transcript is None else transcript)
    run_ = _Run(question, provider, toolbox, transcript, approver or Unattended())
    async with aclosing(run_.events()) as events:
        async for event in events:
            yield event


async def answer(
    question: Question,
    provider: Provider,
    toolbox: Toolbox,
    transcript: Transcript | None = None,
    *,
    approver: Approver | None = None,
) -> Answer:
    """Only the answer: the last event of ``run``."""
    async with aclosing(run(question, provider, toolbox, transcript, approver=approver)) as events:
        async for event in events:
            if isinstance(event, End):
                return event.answer
    raise AssertionError("a run ends with End")


class _Run:
    """The state of a run. The conversation receives the pending messages once they are complete."""

    def __init__(
        self,
        question: Question,
        provider: Provider,
        toolbox: Toolbox,
        conversation: Conversation,
        approver: Approver,
    ) -> None:
        self._schema = None if question.answer_schema is None else AnswerSchema(question.answer_schema)
        if self._schema is not None:
            question = _with_schema(question, self._schema, provider, toolbox)
        self._question = question
        self._provider = provider
        self._toolbox = toolbox
        self._approver = approver
        self._conversation = conversation
        self._requests = Requests(question, provider.format_name, searches_tools=provider.searches_tools)
        model = f"{provider.name}/{question.model}"
        self._offer = Offer(question, conversation, model, toolbox.tools, self._requests.listed_tools)
        self._pending = self._offer.messages()
        self._reader = ToolCallReader(self._offer, toolbox, provider.format_name)
        self._tool_uses: list[ToolUse] = []
        self._usage = Usage()
        self._notes: list[str] = []
        self._iteration = 0
        self._closing = False
        self._pauses = 0
        self._times_again = 0
        self._paused_text = ""
        self._paused_citations: tuple[Citation, ...] = ()
        self._repaired = False

    async def events(self) -> AsyncGenerator[Event]:
        for text in self._notices():
            yield Notice(text)
        while True:
            self._closing = self._iteration == self._question.max_iterations
            self._iteration += not self._closing
            yield IterationStarted(self._iteration, self._closing)
            reply = None
            while reply is None:
                turn = ModelTurn(self._provider, self._request())
                async with aclosing(self._model_events(turn)) as model_events:
                    async for event in model_events:
                        yield event
                reply = self._accepted(turn.reply)
            if self._closing or not reply.message.calls:
                if notice := self._repair(reply):
                    yield Notice(notice)
                    continue
                break
            async with aclosing(self._tool_events(reply)) as tool_events:
                async for event in tool_events:
                    yield event
        for event in self._ended(reply):
            yield event

    def _notices(self) -> Iterator[str]:
        known = self._requests.known_builtins
        for name in self._question.builtins:
            if name not in known:
                there = f"it has {', '.join(sorted(known))}" if known else "it has none"
                yield f"{self._provider.name} has no built-in tool {name!r} here ({there}): it is left out"
        yield from self._offer.notices()
        asked = [name for name in self._question.builtins if name in known]
        model = self._question.model
        if asked and self._offer.tools and not mixes_builtins(self._provider.format_name, model):
            yield f"{model} takes no built-in tools beside others: {', '.join(asked)} left out"
        if self._question.parts and not self._question.vision:
            yield f"{self._question.model} accepts no images: it only gets their descriptions"

    def _request(self) -> Request:
        messages = (*self._conversation.messages, *self._pending)
        request = self._requests.request(self._offer, messages, closing=self._closing)
        return replace(request, conversation=self._conversation.id)

    async def _model_events(self, turn: ModelTurn) -> AsyncGenerator[Event]:
        """A turn of the model. One that the consumer stops or cancels is kept as far as it was received."""
        try:
            async with aclosing(turn.deltas()) as deltas:
                async for delta in deltas:
                    yield delta
        except BaseException:
            if text := turn.text:
                self._append(Assistant(text, incomplete=True))
            raise
        reply = turn.reply
        self._usage += reply.usage
        yield UsageReported(reply.usage, self._iteration)
        new = [note for note in dict.fromkeys(reply.notes) if note not in self._notes]
        self._notes += new
        for note in new:
            yield Notice(note)
        if reply.attempts > 1:
            yield Notice(f"{self._provider.name} answered at attempt {reply.attempts}.")
        if self._is_useless(reply):
            yield Notice(_asking_again(reply))
        elif text := reply.message.text or (LIMIT_REACHED if self._closing else ""):
            yield Text(text, self._iteration)

    def _is_useless(self, reply: Reply) -> bool:
        """Whether to ask again, because a turn broke off without any usable text, or the model wrote a call
        that the provider could not read, which it may not the next time.
        """
        no_answer = bool(reply.cut_calls) or not reply.message.text
        if reply.stop == "malformed":
            return self._times_again < _MALFORMED_AGAIN
        return reply.incomplete and no_answer and not self._times_again

    def _accepted(self, reply: Reply) -> Reply | None:
        """``reply``; ``None`` when the model has to be asked again: its turn was paused, or unusable."""
        if self._is_useless(reply):
            self._times_again += 1
            return None
        self._times_again = 0
        if reply.incomplete:
            kept = Assistant(reply.message.text, incomplete=True, citations=reply.message.citations)
            return replace(reply, message=kept)
        if reply.stop == "pause" and not reply.message.calls and self._pauses < MAX_PAUSES:
            self._pauses += 1
            self._paused_citations += self._citations(reply)
            self._paused_text += reply.message.text
            self._pending.append(reply.message)
            return None
        return reply

    async def _tool_events(self, reply: Reply) -> AsyncGenerator[Event]:
        """Run the calls of ``reply``; they and their results are added to the transcript."""
        self._paused_text, self._paused_citations = "", ()
        turn = self._reader.turn(reply)
        for call in turn.calls:
            yield ToolCallStarted(
                call.id, call.server, call.tool, call.arguments, self._iteration, reply.rescued
            )
        events = turn.events(self._toolbox, self._approver, self._iteration, self._question.max_parallel)
        try:
            async with aclosing(events):
                async for event in events:
                    yield event
        finally:
            self._append(turn.message, ToolResults(turn.outcomes()))
            for call, outcome in zip(turn.calls, turn.outcomes(), strict=True):
                use = ToolUse(call.tool, call.arguments, outcome.result, self._iteration, reply.rescued)
                self._tool_uses.append(use)

    def _checked(self, reply: Reply) -> CheckedAnswer | None:
        """Whether the answer fits; ``None`` where there is no schema, or no whole answer to check."""
        text = self._paused_text + reply.message.text
        whole = ending(reply, text, closing=self._closing)[0] == "end"
        return self._schema.check(text) if self._schema and whole else None

    def _repair(self, reply: Reply) -> str:
        """Tell the model, once, why its answer does not fit; the note about that, if there is a need."""
        checked = self._checked(reply)
        if checked is None or not checked.faults or self._repaired:
            return ""
        self._repaired = True
        self._paused_text, self._paused_citations = "", ()
        given = Assistant(reply.message.text) if reply.message.calls else reply.message
        self._pending += [given, User(checked.repair)]
        return f"The answer does not fit its schema and is asked for once more: {'; '.join(checked.faults)}"

    def _ended(self, reply: Reply) -> Iterator[Event]:
        last = reply.message.text or (LIMIT_REACHED if self._closing else "")
        # the closing message is stored without calls, since they would have no results
        self._append(reply.message if reply.message.text and not reply.message.calls else Assistant(last))
        content = self._paused_text + last
        text = self._paused_text + reply.message.text
        stop, reason = ending(reply, text, closing=self._closing)
        checked = self._checked(reply)
        if checked and checked.faults:
            stop, reason = "schema", f"The answer does not fit its schema: {'; '.join(checked.faults)}."
        if reason:
            yield Notice(reason)
        yield End(
            Answer(
                content,
                self._question.model,
                self._provider.name,
                tuple(self._tool_uses),
                self._usage,
                self._iteration,
                max_iterations_reached=self._closing,
                repeated_calls_stopped=self._reader.stopped_a_repeat,
                incomplete=reply.incomplete,
                notes=tuple(self._notes),
                stop=stop,
                reason="" if stop == "end" else reason,
                citations=self._paused_citations + self._citations(reply),
                fits=checked is not None and not checked.faults,
                value=checked.value if checked and not checked.faults else None,
            )
        )

    def _citations(self, reply: Reply) -> tuple[Citation, ...]:
        """The sources of ``reply``, placed in the text of the whole answer."""
        return tuple(source.moved(len(self._paused_text)) for source in reply.message.citations)

    def _append(self, *messages: Message) -> None:
        self._offer.keep()
        self._conversation.messages += [*self._pending, *messages]
        self._pending = []


def _with_schema(question: Question, schema: AnswerSchema, provider: Provider, toolbox: Toolbox) -> Question:
    """``question``, with its schema in the system prompt where the provider does not take it itself."""
    tools = () if question.allowed_tools == () else toolbox.tools
    request = question.request((), tools, question.builtins, closing=False)
    if provider.format_name and takes_answer_schema(provider.format_name, request):
        return question
    return replace(question, system="\n\n".join(filter(None, (question.system, schema.words))))


def _asking_again(reply: Reply) -> str:
    if reply.stop == "malformed":
        return "The model wrote a tool call that the provider could not read: it is asked again."
    return f"The turn broke off and is asked for again: {reply.trouble}"
