"""Holds requests to the context of the model: what does not fit is left out, oldest calls first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...conversation import Conversation
from ...errors import ContextOverflowError
from ...messages import Message, Request, Usage
from ...providers.prices import price_of
from .._question import Question
from .estimate import messages_tokens, request_tokens
from .history import oldest_exchange, oldest_pair, sent
from .results import shown

__all__ = ["Budget", "MakeRequest"]

MakeRequest = Callable[[Sequence[Message]], Request]

_ANSWER_TOKENS = 4_096
_AIM = 0.8
"""What may be used of the context after something was left out, so that not every turn leaves out more."""
_SMALL = 12_000
"""Characters that fit any context."""


class Budget:
    """The requests of ``question`` to ``model`` (``provider/model``) in ``conversation``.

    The estimate of a request's tokens is corrected by what the provider reported of the one before.
    """

    def __init__(self, question: Question, conversation: Conversation, provider: str) -> None:
        self._question = question
        self._conversation = conversation
        self._provider = provider
        self._model = f"{provider}/{question.model}"
        self._begin = len(conversation.messages)
        self._ratio = 1.0
        self._estimate = 0
        self._window = question.context_tokens
        self._knows_window = question.context_tokens is not None
        self._over = False
        self.notes: list[str] = []
        """What was left out and not told yet."""

    def request(self, messages: Sequence[Message], make: MakeRequest, read_result: str) -> Request:
        """The request with what of ``messages`` fits; ``read_result`` is the name of that tool, if it is
        offered."""

        def made() -> Request:
            return make(shown(sent(self._conversation, messages, self._model), read_result))

        request = made()
        self._over = False
        if _characters(request) < _SMALL and self._window is None:
            return request
        if (room := self._room()) is None or self._tokens(request) <= room:
            return request
        left = self._estimate
        for places in self._droppable(messages):
            self._leave_out(places)
            left -= int(messages_tokens(messages[place] for place in places) * self._ratio)
            if left > room * _AIM:
                continue
            request = made()
            left = self._tokens(request)
            if left <= room * _AIM:
                break
        else:
            request = made()
        self._over = self._tokens(request) > room
        return request

    @property
    def is_over(self) -> bool:
        """Whether the last request is estimated not to fit, whatever was left out."""
        return self._over

    @property
    def summarisable(self) -> int:
        """How many messages a summary may stand for: those before this question, unless there is one."""
        done = 0 if self._conversation.summary is None else self._conversation.summary.messages
        return self._begin if self._begin > done else 0

    def replied(self, usage: Usage) -> None:
        """Correct the estimate by what the provider counted."""
        counted = usage.input_tokens
        if counted and self._estimate:
            self._ratio = min(2.0, max(0.5, counted / (self._estimate / self._ratio)))

    def learns(self, error: ContextOverflowError, messages: Sequence[Message]) -> bool:
        """Take from a refusal how long the context is; whether there is something that can be left out."""
        if not self._estimate:  # of a short request none was made
            self._estimate = int(messages_tokens(messages) * self._ratio)
        known = error.maximum_tokens or max(1, int((error.counted_tokens or self._estimate) * _AIM))
        if self._window is None or known < self._window or not self._knows_window:
            self._window, self._knows_window = known, True
        if error.counted_tokens and self._estimate:
            self._ratio *= max(1.0, error.counted_tokens / self._estimate)
        return next(self._droppable(messages), None) is not None

    def _room(self) -> float | None:
        """The tokens that a request may have; ``None`` where the context's length is not known."""
        if not self._knows_window:
            self._window, self._knows_window = price_of(self._provider, self._question.model).context, True
        if self._window is None:
            return None
        answer = self._question.max_tokens or min(_ANSWER_TOKENS, self._window // 8)
        return max(1, self._window - answer)

    def _tokens(self, request: Request) -> int:
        self._estimate = int(request_tokens(request) * self._ratio)
        return self._estimate

    def _droppable(self, messages: Sequence[Message]) -> Iterator[frozenset[int]]:
        while pair := oldest_pair(self._conversation, messages, self._model):
            yield pair
        while self._question.trim and (
            exchange := oldest_exchange(self._conversation, messages, self._model, self._begin)
        ):
            yield exchange

    def _leave_out(self, places: frozenset[int]) -> None:
        left_out = self._conversation.left_out
        left_out[self._model] = left_out.get(self._model, frozenset()) | places
        note = (
            f"About {self._estimate:,} tokens, an estimate, are more than the context of {self._model} holds "
            f"({self._window:,}): the oldest tool calls and their results are left out; the conversation "
            "keeps them."
        )
        if not self.notes:
            self.notes.append(note)


def _characters(request: Request) -> int:
    from .estimate import outcome_text

    count = len(request.system) + sum(len(tool.description) + len(str(tool.schema)) for tool in request.tools)
    for message in request.messages:
        count += len(getattr(message, "text", ""))
        count += sum(len(outcome_text(each)) for each in getattr(message, "outcomes", ()))
        count += sum(len(call.raw) for call in getattr(message, "calls", ()))
        if getattr(message, "parts", ()) or getattr(message, "opaque", None) is not None:
            return _SMALL
    return count
