"""A question that is recorded, whether or not its model is asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field

from ...events import Answer, End, Event
from ...loop import Question
from ...providers import Provider
from ...providers.prices import Pricing
from .activity import Activity, Began
from .entry import About
from .watch import error_of

__all__ = ["Recording"]


@dataclass(frozen=True, slots=True)
class Recording:
    """Records in ``activity`` what comes of a question that was asked as ``about`` says."""

    activity: Activity
    about: About
    began: Began = field(default_factory=Began)

    @contextmanager
    def preparing(self, model: str) -> Generator[None]:
        """What is raised in the block is recorded as why ``model`` was not asked."""
        try:
            yield
        except Exception as error:
            self.activity.refused(self.about, self.began, error_of(error), model)
            raise

    def watched(
        self, events: AsyncGenerator[Event], question: Question, provider: Provider, pricing: Pricing
    ) -> AsyncGenerator[Event]:
        """The ``events`` of the run that answers ``question`` at ``provider``, recorded."""
        watch = self.activity.watch(
            self.about,
            model=question.model,
            provider=provider.name,
            question=question.text,
            pricing=pricing,
        )
        return self.activity.watched(events, watch)

    async def answered(
        self, events: AsyncGenerator[Event], question: Question, provider: Provider, pricing: Pricing
    ) -> Answer:
        """The answer at the end of the same."""
        answer: Answer | None = None
        async with aclosing(self.watched(events, question, provider, pricing)) as watched:
            async for event in watched:
                if isinstance(event, End):
                    answer = event.answer
        assert answer is not None, "a run ends with End"
        return answer
