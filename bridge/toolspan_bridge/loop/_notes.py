"""What a person is told before the model is asked: what of the question is left out."""

from __future__ import annotations

from collections.abc import Iterator

from ..formats import mixes_builtins
from ..providers import Provider
from ._offer import Offer
from ._question import Question


def opening_notes(
    question: Question, provider: Provider, offer: Offer, known: frozenset[str]
) -> Iterator[str]:
    """The notes about ``question``; ``known`` are the provider's own tools."""
    for name in question.builtins:
        if name not in known:
            there = f"it has {', '.join(sorted(known))}" if known else "it has none"
            yield f"{provider.name} has no built-in tool {name!r} here ({there}): it is left out"
    yield from offer.notices()
    asked = [name for name in question.builtins if name in known]
    model = question.model
    if asked and offer.tools and not mixes_builtins(provider.format_name, model):
        yield f"{model} takes no built-in tools beside others: {', '.join(asked)} left out"
    if question.parts and not question.vision:
        yield f"{question.model} accepts no images: it only gets their descriptions"
