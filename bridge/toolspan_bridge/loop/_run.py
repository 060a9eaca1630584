"""The loop: asks the model, runs its tool calls, and asks again until it answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from toolspan_server.common.beside_loop import run_beside

from ..approvals import Approver, Unattended
from ..conversation import Conversation
from ..errors import ContextOverflowError
from ..events import (
    Answer,
    ElicitationAnswer,
    ElicitationRequest,
    End,
    Event,
    IterationStarted,
    Notice,
    SamplingAnswer,
    SubagentEvent,
    Text,
    TextRetracted,
    ToolCallStarted,
    ToolUse,
    UsageReported,
)
from ..formats.names import NameTable
from ..messages import (
    Assistant,
    Message,
    Reply,
    Request,
    ToolCall,
    ToolResults,
    Usage,
)
from ..provenance.outward import Conversed
from ..providers import Provider
from ..providers.prices import Pricing
from ..providers.wire.wire_request import weight_of_parts
from ..toolbox import Toolbox
from ._answer_schema import AnswerSchema, prepare_schema
from ._ending import asking_again, ending_at, instead_of_words
from ._journaled import keep
from ._model_turn import ModelTurn
from ._notes import opening_notes
from ._offer import Offer
from ._question import Question
from ._replies import Outcome, Replies
from ._requests import Requests
from ._tool_calls import ToolCallReader
from .budget.budget import Budget
from .budget.estimate import turn_tokens
from .budget.results import READ_RESULT, ReadResult, has_cut
from .budget.summary import summarised
from .hooks import Consulted, HookInput, HookRunner
from .limits import (
    AtLimit,
    CostLimitError,
    Limits,
    LimitScope,
    Spending,
    TimeUp,
    Watch,
    spending_within,
    timed,
)

Transcript = Conversation | list[Message]
"""The earlier messages: with what their requests began with, or alone."""


async def run(
    question: Question,
    provider: Provider,
    toolbox: Toolbox,
    transcript: Transcript | None = None,
    *,
    approver: Approver | None = None,
    pricing: Pricing | None = None,
    at_limit: AtLimit | None = None,
    spending: Spending | None = None,
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

    At a limit ``at_limit`` is asked what becomes of the question; without it the model is asked for its
    answer in a last turn without tools, where the limit leaves room for one. ``pricing`` says what requests
    cost; without it the table of prices does, by the provider's name.

    Where the cost is limited, each request holds the most that it may cost before it is sent, and one that
    may cost more than is left is not made. ``spending`` is what the requests of ``provider`` are paid from
    already, together with others; without it they are paid from the limits of ``question``.

    Raises what the provider raises, and ``UsageError`` where the cost is limited and no bound of it is known.
    An error of a tool or in a call is a result for the model.
    """
    if not isinstance(transcript, Conversation):
        transcript = Conversation.over([] if transcript is None else transcript)
    hooks = HookRunner(question.hooks, toolbox, question.model) if question.hooks else None
    if hooks is not None:
        before = await hooks.consult(_before(question, transcript))
        for ran in before.events:
            keep(transcript.journal, ran)
            yield ran
        if before.denied:
            yield End(_denied(question, provider, before.denied))
            return
        typed = question.text if question.typed is None else question.typed
        question = replace(question, text=before.given.text, system=before.given.system, typed=typed)
    pricing = pricing or Pricing(provider.name, question.model)
    limits: dict[LimitScope, Limits] = {
        "question": question.limits,
        "conversation": question.conversation_limits,
    }
    if spending is None:
        spending = spending_within(question.limits, question.conversation_limits, transcript)
        provider = spending.charged(provider, pricing, question.model)
    watch = Watch(limits, question.max_iterations, transcript, pricing, at_limit, spending)
    question, schema = await prepare_schema(question, provider, toolbox)
    run_ = _Run(question, schema, provider, toolbox, transcript, approver or Unattended(), watch, hooks)
    try:
        async with aclosing(run_.events()) as events:
            async for event in events:
                if isinstance(event, End) and hooks is not None:
                    after = await hooks.consult(_after(question, transcript, event.answer))
                    for ran in after.events:
                        keep(transcript.journal, ran)
                        yield ran
                    event = End(_hooked(event.answer, after))  # noqa: PLW2901
                keep(transcript.journal, event)
                yield event
    finally:
        watch.finish()
        transcript.record()


async def answer(
    question: Question,
    provider: Provider,
    toolbox: Toolbox,
    transcript: Transcript | None = None,
    *,
    approver: Approver | None = None,
    pricing: Pricing | None = None,
    at_limit: AtLimit | None = None,
) -> Answer:
    """Only the answer: the last event of ``run``."""
    started = run(
        question, provider, toolbox, transcript, approver=approver, pricing=pricing, at_limit=at_limit
    )
    async with aclosing(started) as events:
        async for event in events:
            if isinstance(event, End):
                return event.answer
    raise AssertionError("a run ends with End")


def _before(question: Question, conversation: Conversation) -> HookInput:
    given = HookInput("before_turn", conversation=conversation.id)
    return replace(given, text=question.text, system=question.system)


def _after(question: Question, conversation: Conversation, answer: Answer) -> HookInput:
    given = HookInput("after_turn", conversation=conversation.id)
    return replace(given, text=question.text, content=answer.content)


def _denied(question: Question, provider: Provider, why: str) -> Answer:
    reason = f"The question was denied by a hook: {why}"
    return Answer(reason, question.model, provider.name, (), Usage(), 0, stop="denied", reason=reason)


def _hooked(answer: Answer, after: Consulted) -> Answer:
    """``answer`` as the hooks leave it; the conversation has what the model said."""
    if after.denied:
        reason = f"The answer was withheld by a hook: {after.denied}"
        withheld = replace(answer, content=reason, stop="denied", reason=reason, returned_calls=())
        return replace(withheld, citations=(), fits=False, value=None)
    if after.given.content == answer.content:
        return answer
    return replace(answer, content=after.given.content, citations=(), fits=False, value=None)


class _Run:
    """The state of a run. The conversation receives the pending messages once they are complete."""

    def __init__(
        self,
        question: Question,
        schema: AnswerSchema | None,
        provider: Provider,
        toolbox: Toolbox,
        conversation: Conversation,
        approver: Approver,
        watch: Watch,
        hooks: HookRunner | None = None,
    ) -> None:
        self._hooks = hooks
        self._question = question
        self._provider = provider
        self._toolbox = toolbox
        self._approver = approver
        self._watch = watch
        self._conversation = conversation
        self._requests = Requests(question, provider.format_name, searches_tools=provider.searches_tools)
        model = f"{provider.name}/{question.model}"
        self._offer = Offer(question, conversation, model, toolbox.tools, self._requests.listed_tools)
        self._pending = self._offer.messages()
        self._conversed = Conversed(
            (*conversation.inherited, *toolbox.foreign_words),
            toolbox.has_own_words,
            is_users=not conversation.is_agents,
        )
        self._reader = ToolCallReader(
            self._offer,
            toolbox,
            watch,
            question.repair_attempts,
            provider.format_name,
            conversed=self._conversed,
            checks_arguments=question.checks_arguments,
            returns_malformed=question.returns_malformed,
        )
        self._replies = Replies(schema)
        self._budget = Budget(question, conversation, provider.name)
        self._read_result = ""
        self._offer_reading()
        self._tool_uses: list[ToolUse] = []
        self._usage = Usage()
        self._notes: list[str] = []
        self._iteration = 0
        self._closing = False
        self._reply: Reply | None = None
        self._broken_off = ""
        self._returned: tuple[ToolCall, ...] = ()

    async def events(self) -> AsyncGenerator[Event]:
        self._conversation.note("model", {"model": f"{self._provider.name}/{self._question.model}"})
        self._record()
        known = self._requests.known_builtins
        for text in opening_notes(self._question, self._provider, self._offer, known):
            yield Notice(text)
        while (step := await self._watch.next_turn(self._iteration)) != "none":
            self._closing = step == "closing"
            self._iteration += not self._closing
            self._offer.follow(self._toolbox.tools)
            for text in self._toolbox.take_news():
                yield Notice(f"{text[:1].upper()}{text[1:]}")
            yield IterationStarted(self._iteration, self._closing)
            async with aclosing(self._turn()) as turn_events:
                async for event in turn_events:
                    yield event
            if (reply := self._reply) is None:
                break
            if not self._closing and reply.message.calls:
                async with aclosing(self._tool_events(reply)) as tool_events:
                    async for event in tool_events:
                        yield event
                if not self._returned:
                    continue
            elif notice := await self._corrected(reply):
                self._record()
                yield Notice(notice)
                continue
            for event in await self._ended(reply):
                yield event
            return
        for event in self._stopped():
            yield event

    async def _corrected(self, reply: Reply) -> str:
        """What is said of a ``reply`` that is no answer, of which the model is told; empty for an answer."""
        if notice := await self._replies.repair(reply, self._pending, self._watch.reached):
            return notice
        if self._closing or not self._reader.stopped_a_repeat:
            return ""
        return self._replies.tells_again(reply, self._tool_uses, self._pending)

    async def _turn(self) -> AsyncGenerator[Event]:
        """Ask the model until there is a reply to go on with; there is none when the time was up."""
        self._reply = None
        while self._reply is None:
            request = await self._request()
            turn = ModelTurn(self._provider, request)
            try:
                if self._budget.is_over and self._question.compact and self._budget.summarisable:
                    for event in await self._compact():
                        yield event
                    turn = ModelTurn(self._provider, await self._request())
                for event in self._noted(*self._budget.notes):
                    yield event
                async with aclosing(self._model_events(turn)) as model_events:
                    async for event in model_events:
                        yield event
            except (CostLimitError, ContextOverflowError) as error:
                if not await self._asks_again(error):
                    return
                continue
            except TimeUp:
                if not await self._watch.time_is_up():
                    self._keep_broken(turn)
                    return
                yield Notice("The turn broke off when the time was up: it is asked for again.")
                if turn.has_shown:
                    yield TextRetracted(self._iteration)
                continue
            self._reply = self._replies.accepted(turn.reply, self._pending)
            self._record()

    async def _asks_again(self, error: CostLimitError | ContextOverflowError) -> bool:
        """Whether the model is asked once more, after ``error``. Raises it where it is not ours to mend."""
        if isinstance(error, CostLimitError):
            if error.spending is not self._watch.spending:
                raise error
            return await self._watch.cost_is_up(error)
        if not self._shrinks(error):
            raise error
        return True

    async def _request(self) -> Request:
        def make(messages: Sequence[Message]) -> Request:
            return self._requests.request(
                self._offer,
                messages,
                closing=self._closing,
                first=self._iteration == 1,
                conversation=self._conversation.id,
            )

        work = partial(self._budget.request, self._messages, make, self._read_result)
        return await run_beside(weight_of_parts(self._messages, self._offer.tools), work)

    @property
    def _messages(self) -> tuple[Message, ...]:
        return (*self._conversation.messages, *self._pending)

    def _shrinks(self, error: ContextOverflowError) -> bool:
        """Whether a request that the provider found too long can be made shorter."""
        can_compact = self._question.compact and self._budget.summarisable > 0
        return self._budget.learns(error, self._messages) or can_compact

    async def _compact(self) -> list[Event]:
        """Have the model summarise what came before this question."""
        before = self._conversation.messages[: self._budget.summarisable]
        compacted = await summarised(self._conversation, before, self._provider, self._question.model)
        self._usage += compacted.usage
        self._watch.replied(compacted.usage, compacted.usage.input_tokens + compacted.usage.output_tokens)
        self._record()
        note = (
            f"The conversation is too long for {self._question.model}: a summary of {compacted.messages} "
            "messages is sent in their place from here on; the conversation keeps them."
        )
        return [UsageReported(compacted.usage, self._iteration), *self._noted(note)]

    def _offer_reading(self) -> None:
        """Offer to read on in results, once one was cut."""
        if not self._read_result and has_cut(self._messages) and self._offer.allow(READ_RESULT):
            self._read_result = NameTable.of(self._offer.tools).wire(READ_RESULT)
            reader = ReadResult(self._conversation, self._question.result_characters)
            self._toolbox = self._toolbox.with_local([reader])

    async def _model_events(self, turn: ModelTurn) -> AsyncGenerator[Event]:
        """A turn of the model. One that the consumer stops or cancels is kept as far as it was received."""
        try:
            async with aclosing(timed(turn.deltas(), self._watch.clock)) as deltas:
                async for delta in deltas:
                    yield delta
        except TimeUp:
            raise
        except BaseException:
            self._keep_broken(turn)
            raise
        for event in self._replied(turn):
            yield event

    def _keep_broken(self, turn: ModelTurn) -> None:
        """Keep what came of a turn that is not asked for again."""
        if text := turn.text:
            self._broken_off = text
            self._append(Assistant(text, incomplete=True))

    def _replied(self, turn: ModelTurn) -> Iterator[Event]:
        reply = turn.reply
        self._usage += reply.usage
        yield UsageReported(reply.usage, self._iteration)
        tokens = reply.usage.input_tokens + reply.usage.output_tokens
        if not tokens and self._watch.limits_tokens:
            tokens = turn_tokens(turn.request, reply.message)
            yield from self._noted(f"{self._provider.name} reports no tokens: they are estimated.")
        self._watch.replied(reply.usage, tokens)
        self._budget.replied(reply.usage)
        told = self._conversation.told
        yield from self._noted(*(note for note in reply.notes if note not in told))
        told.update(reply.notes)
        if reply.attempts > 1:
            yield Notice(f"{self._provider.name} answered at attempt {reply.attempts}.")
        if self._replies.asks_again(reply):
            yield Notice(asking_again(reply))
            if turn.has_shown:
                yield TextRetracted(self._iteration)
        elif text := reply.message.text or self._instead:
            yield Text(text, self._iteration)

    def _noted(self, *notes: str) -> Iterator[Notice]:
        """The notices of what was not said before; they are the answer's notes too."""
        new = [note for note in dict.fromkeys(notes) if note not in self._notes]
        self._notes += new
        for note in new:
            yield Notice(note)

    async def _tool_events(self, reply: Reply) -> AsyncGenerator[Event]:
        """Run the calls of ``reply``; they and their results are added to the transcript."""
        self._replies.forget_pauses()
        await self._conversed.follow(self._messages)
        turn = self._reader.turn(reply)
        self._offer.keep()
        self._record(turn.message)
        for call in turn.calls:
            if call.returned:
                continue
            yield ToolCallStarted(
                call.id, call.server, call.tool, call.arguments, self._iteration, reply.rescued
            )
        events = turn.events(
            self._toolbox,
            self._approver,
            self._iteration,
            self._question.max_parallel,
            self._watch.clock,
            self._question.result_characters,
            self._hooks,
        )
        try:
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, SubagentEvent):
                        self._watch.of_subagent(event)
                    elif isinstance(event, ElicitationRequest | ElicitationAnswer):
                        self._watch.of_question(event)
                    elif isinstance(event, SamplingAnswer) and event.model:
                        self._watch.of_sample(event.usage)
                    yield event
        finally:
            self._append(turn.message, ToolResults(turn.outcomes()))
            self._returned = turn.returned
            self._reader.ended(turn)
            self._offer_reading()
            for call in turn.calls:
                if call.outcome is not None:
                    result = call.outcome.result
                    use = ToolUse(call.tool, call.arguments, result, self._iteration, reply.rescued)
                    self._tool_uses.append(use)
        repeats = self._reader.only_repeated and not self._returned
        if repeats and (notice := self._replies.tells_results(self._tool_uses, self._pending)):
            self._record()
            yield Notice(notice)

    @property
    def _instead(self) -> str:
        """What is said in the place of a last turn without words."""
        reached = self._watch.reached if self._closing else None
        return "" if reached is None else instead_of_words(reached)

    async def _ended(self, reply: Reply) -> Iterator[Event]:
        if self._returned:
            was_cut = reply.stop in ("length", "context")
            outcome = Outcome(reply.message.text, "length" if was_cut else "calls", "")
            return self._end(outcome, incomplete=False)
        # the closing message is stored without calls, since they would have no results
        kept = reply.message if reply.message.text and not reply.message.calls else None
        self._append(kept or Assistant(reply.message.text or self._instead))
        outcome = await self._replies.outcome(reply, self._instead, self._watch.reached)
        return self._end(outcome, incomplete=reply.incomplete)

    def _stopped(self) -> Iterator[Event]:
        """The end at a limit that leaves no room for a further turn."""
        reached = self._watch.reached
        assert reached is not None
        text = self._broken_off
        if self._iteration and not text:
            self._append(Assistant(instead_of_words(reached)))
        stop, reason = ending_at(reached, text)
        yield from self._end(Outcome(text or instead_of_words(reached), stop, reason), incomplete=bool(text))

    def _end(self, outcome: Outcome, *, incomplete: bool) -> Iterator[Event]:
        reached = self._watch.reached
        if outcome.reason:
            yield Notice(outcome.reason)
        yield End(
            Answer(
                outcome.content,
                self._question.model,
                self._provider.name,
                tuple(self._tool_uses),
                self._usage,
                self._iteration,
                max_iterations_reached=reached is not None and reached.name == "iterations",
                repeated_calls_stopped=self._reader.stopped_a_repeat,
                incomplete=incomplete,
                notes=tuple(self._notes),
                stop=outcome.stop,
                reason="" if outcome.stop == "end" else outcome.reason,
                citations=outcome.citations,
                fits=outcome.fits,
                value=outcome.value,
                usd=self._watch.usd if self._iteration else None,
                limit=reached.key if reached is not None and outcome.stop == "limit" else "",
                returned_calls=self._returned,
                failure=self._reply.failure if incomplete and self._reply is not None else None,
            )
        )

    def _append(self, *messages: Message) -> None:
        self._offer.keep()
        self._conversation.messages += [*self._pending, *messages]
        self._pending = []
        self._record()

    def _record(self, *further: Message) -> None:
        self._conversation.record((*self._pending, *further))
