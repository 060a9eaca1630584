"""The run that answers a request: its history restored, its question asked, and what is hidden of it kept."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from toolspan_server.common.beside_loop import run_beside

from ....approvals import Approver
from ....conversation import Conversation
from ....loop import Question, run
from ....loop.limits import Spending
from ....messages import Assistant, Mark, Message, ToolChoice, User
from ....providers import Provider
from ....providers.prices import Pricing
from ....providers.wire.wire_request import weight_of_parts
from ....toolbox import Toolbox
from ...activity import About, Activity, Began
from ..apis import Api
from ..asked import Asked
from ..faults import RequestFault
from ..history.hidden import Hidden, HiddenTurns
from ..history.restored import Digests, restored
from ..pieces import Finished, Piece, pieces_of
from ..replies import Begun, Collected, Collector
from .cached import CachedAnswer, Caching, is_kept
from .caller import Caller
from .choosing import Choice

__all__ = ["Origin", "Prepare", "Prepared", "Run", "Runs"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Who answers a question and with what: ``notes`` are what whoever asks should know before; ``paid`` is
    ``provider`` where its requests are charged to a key, ``generation`` counts the configs that were used;
    ``limited`` gives the question the limits of whoever pays; ``spending`` is what ``paid`` is paid from
    within the question's own limits."""

    question: Question
    provider: Provider
    toolbox: Toolbox
    approver: Approver
    pricing: Pricing | None = None
    notes: tuple[str, ...] = ()
    paid: Provider | None = None
    generation: int = 0
    limited: Callable[[Question], Question] = lambda question: question
    spending: Spending | None = None


_UNKNOWN = Mark("foreign", "answers that were sent with the conversation", "the client")
"""Of an answer that is not known here any more, nobody can tell what its calls had read."""

Prepare = Callable[[User, Choice, Conversation, Caller], AbstractAsyncContextManager[Prepared]]
"""Finds who answers what the user asked last, by the choice, in a conversation of a caller; for the block.
Raises ``BridgeError`` and ``RequestFault``."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request comes from: its ``caller``, the ``path`` that was asked, when it ``began``, and whether
    its answer is kept."""

    caller: Caller
    path: str
    began: Began
    caching: Caching | None = None

    def about(self, group: str = "") -> About:
        """The same for the activity log."""
        return About(self.caller.principal, self.path, self.caller.key_name, group)


class Runs:
    """Begins the runs of all requests. ``prepare`` finds who answers; ``hidden`` is what clients did not see
    of earlier answers, ``responses`` are those that are stored; ``activity`` records each."""

    def __init__(
        self,
        prepare: Prepare,
        hidden: HiddenTurns | None = None,
        responses: HiddenTurns | None = None,
        activity: Activity | None = None,
    ) -> None:
        self.activity = activity or Activity(None)
        self._prepare = prepare
        self._hidden = hidden or HiddenTurns()
        self._responses = responses or HiddenTurns()

    def earlier(self, principal: str) -> Callable[[str], Hidden]:
        """Gives what ``principal`` has seen up to and with the response of an id."""

        def find(response: str) -> Hidden:
            kept = self._responses.find(principal, response)
            if kept is None:
                raise RequestFault(
                    f"Previous response with id {response[:100]!r} not found: it was not stored, or is no "
                    "longer; send the whole input",
                    code="previous_response_not_found",
                    param="previous_response_id",
                )
            return kept

        return find

    def forget(self, principal: str, response: str) -> None:
        """Forget a stored response."""
        self._responses.forget(principal, response)

    @asynccontextmanager
    async def begin(self, api: Api, asked: Asked, choice: Choice, origin: Origin) -> AsyncGenerator[Run]:
        """The run that answers ``asked``, for the block. Raises what ``prepare`` raises."""
        digests = await run_beside(weight_of_parts(asked.messages, ()), partial(Digests, asked.messages))
        history = restored(asked.messages, digests, self._hidden, origin.caller.principal)
        conversation = Conversation(history.messages)
        if history.conversation:
            conversation.id = history.conversation
        if history.unknown:
            conversation.inherited = (_UNKNOWN,)
        if isinstance(conversation.messages[-1], User):
            conversation.messages.pop()
        asked_last = _last_user(asked.messages)
        async with self._prepare(asked_last, choice, conversation, origin.caller) as prepared:
            yield Run(self, api, asked, prepared, conversation, origin, digests)

    async def keep(
        self,
        finished: Run,
        answer: Assistant,
        ids: dict[str, str],
        stored: tuple[str, Mapping[str, Any]] | None,
    ) -> None:
        """Keep what the client does not see of ``finished``, which it sees as ``answer``; where that is
        stored too, ``stored`` is its id and its body."""
        visible = (*finished.asked.messages, answer)
        keys = [call.id for call in answer.calls]
        if not keys:
            keys = [await run_beside(len(answer.text), partial(finished.digests.after, answer))]
        own, conversation = finished.own_messages, finished.conversation.id
        if own:
            hidden = Hidden(own, conversation, ids)
            self._hidden.keep(finished.principal, keys, hidden)
        if stored is not None:
            seen = Hidden(visible, conversation, body=stored[1])
            self._responses.keep(finished.principal, [stored[0]], seen)


class Run:
    """One answer that comes: ``begun``, with ``warnings`` that are known before its first piece. ``cache``
    says whether it was kept before (``hit``, ``miss``, or ``bypass`` where hooks have to run), empty where
    nobody asked for that; ``watch`` follows it."""

    def __init__(
        self,
        runs: Runs,
        api: Api,
        asked: Asked,
        prepared: Prepared,
        conversation: Conversation,
        origin: Origin,
        digests: Digests,
    ) -> None:
        self.digests = digests
        self._runs = runs
        self._api = api
        self._prepared = prepared
        self.provider, self.toolbox = prepared.provider, prepared.toolbox
        self._before = len(conversation.messages)
        self.asked = asked
        self.conversation = conversation
        self.principal = origin.caller.principal
        self.question = prepared.limited(_question(asked, prepared))
        self.begun = Begun(asked, f"{prepared.provider.name}/{self.question.model}")
        self.warnings = (*prepared.notes, *asked.warnings)
        self._origin = origin
        self.watch = runs.activity.watch(
            origin.about(self.begun.id),
            model=self.question.model,
            provider=prepared.provider.name,
            question=self.question.text,
            pricing=prepared.pricing,
        )
        self.cache, self._cache_key = "", ""
        self._cached: CachedAnswer | None = None
        if (caching := origin.caching) is not None:
            self._look_up(caching)

    def _look_up(self, caching: Caching) -> None:
        if self.question.hooks:
            self.cache = "bypass"
            return
        self._cache_key = caching.key(self.begun.model, self.question, self.toolbox)
        self._cached = caching.answers.find(self._cache_key, self._prepared.generation)
        self.cache = "miss" if self._cached is None else "hit"
        if self._cached is not None:
            self.conversation.id = self._cached.conversation

    @property
    def own_messages(self) -> tuple[Message, ...]:
        """What the run added to the conversation after the question."""
        if self._cached is not None:
            return self._cached.own_messages
        added = self.conversation.messages[self._before :]
        return tuple(added if self.question.resumes else added[1:])

    async def pieces(self) -> AsyncGenerator[Piece]:
        """The pieces of the answer. Closing it cancels the run. Raises as ``pieces_of``."""
        collector = Collector()
        async with aclosing(self._again() if self._cached is not None else self._run()) as pieces:
            async for piece in pieces:
                collector.add(piece)
                if isinstance(piece, Finished):
                    self.watch.is_enough = True
                    await self._keep(collector.whole)
                yield piece

    async def _again(self) -> AsyncGenerator[Piece]:
        """The pieces of the answer that was kept: they cost nothing."""
        assert self._cached is not None
        for piece in self._cached.pieces():
            yield piece
        told = {"deployment": "cache", "outcome": "answered", "reason": "", "seconds": 0.0}
        about = self._origin.about(self.begun.id)
        self._runs.activity.requested(about, self._origin.began, self.begun.model, tried=(told,))

    def _run(self) -> AsyncGenerator[Piece]:
        prepared = self._prepared
        events = run(
            self.question,
            prepared.paid or prepared.provider,
            prepared.toolbox,
            self.conversation,
            approver=prepared.approver,
            pricing=prepared.pricing,
            spending=prepared.spending,
        )
        held = self.question.answer_schema is not None or _hooked(self.question)
        watched = self._runs.activity.watched(events, self.watch)
        return pieces_of(watched, self.asked.stops, held=held, thoughts=self.asked.thoughts)

    async def _keep(self, whole: Collected) -> None:
        calls = whole.finished.calls
        ids = [self._api.call_id(self.begun, number) for number in range(len(calls))]
        seen = tuple(replace(call, id=known) for call, known in zip(calls, ids, strict=True))
        provider_ids = {known: call.id for call, known in zip(calls, ids, strict=True)}
        stored = self._api.stored(self.begun, whole) if self.asked.store else None
        text = whole.streamed_text if self.asked.stream else whole.text
        await self._runs.keep(self, Assistant(text, seen), provider_ids, stored)
        caching = self._origin.caching
        if self.cache == "miss" and caching is not None and is_kept(whole.finished.finish, self.watch.calls):
            answer = CachedAnswer(whole, self.own_messages, self.conversation.id)
            generation = self._prepared.generation
            caching.answers.keep(self._cache_key, generation, answer, caching.seconds)


def _last_user(messages: Sequence[Message]) -> User:
    return next((message for message in reversed(messages) if isinstance(message, User)), User(""))


def _hooked(question: Question) -> bool:
    """Whether a hook may change the answer after its last turn."""
    return any(hook.point == "after_turn" for hook in question.hooks)


def _question(asked: Asked, prepared: Prepared) -> Question:
    """The question of ``prepared``, with what the client asks for."""
    own, last = prepared.question, asked.messages[-1]
    resumes = not isinstance(last, User)
    return replace(
        own,
        text=last.text if isinstance(last, User) else "",
        parts=last.parts if isinstance(last, User) else (),
        typed=last.typed if isinstance(last, User) else None,
        marks=(*own.marks, *last.marks) if isinstance(last, User) else own.marks,
        resumes=resumes,
        system="\n\n".join(filter(None, (own.system, asked.system))),
        max_tokens=own.max_tokens if asked.max_tokens is None else asked.max_tokens,
        temperature=own.temperature if asked.temperature is None else asked.temperature,
        reasoning=asked.reasoning or own.reasoning,
        answer_schema=own.answer_schema if asked.answer_schema is None else asked.answer_schema,
        stream=asked.stream or asked.thoughts or bool(asked.stops),
        trim=asked.trim or own.trim,
        returned_tools=asked.tools,
        returns_malformed=asked.malformed_calls,
        tool_choice=_tool_choice(asked, prepared),
        parallel=asked.parallel,
        settings={**own.settings, **asked.settings},
    )


def _tool_choice(asked: Asked, prepared: Prepared) -> ToolChoice:
    """The choice of the client, whose named function may be one of our tools. Raises ``RequestFault``."""
    choice = asked.tool_choice
    own = prepared.question.allowed_tools
    ours = [tool for tool in prepared.toolbox.tools if own is None or tool.name in own]
    if choice == "required" and not (ours or asked.tools):
        raise RequestFault("tool_choice: there is no tool to be called", param="tool_choice")
    if not isinstance(choice, tuple) or choice[1] in [tool.name for tool in asked.tools]:
        return choice
    named = [tool for tool in ours if choice[1] == tool.name]
    if len(named) == 1:
        return named[0].key
    why = "several servers have such a tool" if named else "there is no such tool"
    raise RequestFault(f"tool_choice names {choice[1]!r}: {why}", param="tool_choice")
