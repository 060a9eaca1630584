"""Queries that no tool serves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..choices import Choices
from ..drafts import Draft
from ..english import telling_words, words_of
from ..problems import LeftOut
from ..subjects import Subject

CATEGORY = "irrelevance"
_MOST = 8
_TALK: Mapping[str, str] = {
    "Thank you, that was all for today!": "thank",
    "Good morning! How are you?": "morning greeting greet",
    "Write a two-line poem about a lighthouse.": "poem poetry lighthouse",
    "Tell me a joke about penguins.": "joke penguin",
    "Which do you like better, the sea or the mountains?": "opinion",
    "Say something kind about my handwriting.": "handwriting compliment",
    "Suggest a name for a grey kitten.": "kitten pet suggest",
    "I changed my mind, please do nothing at all.": "nothing noop",
}
_WISHES: Mapping[str, str] = {
    "Water the plants on the balcony at six.": "water plant garden irrigation reminder schedule calendar",
    "Call me a taxi to the station, right now.": "taxi ride cab call phone",
    "Feed the cat while I am away, will you?": "feed cat pet",
    "Tune the piano in the living room.": "tune piano music",
    "Iron my blue shirt for tomorrow.": "iron laundry shirt",
    "Bake a chocolate cake for eight people.": "bake cake oven recipe",
}
"""Each with words of tools that might serve it."""

_ANYTHING = frozenset(words_of("browser browse web internet http shell bash terminal exec agent"))
"""With tools about these a model might try to fulfil any wish."""


def irrelevance(tools: tuple[Subject, ...], choices: Choices) -> Iterator[Draft | LeftOut]:
    """Small talk, and wishes that no tool fulfils: no tool is to be called."""
    about = {word for tool in tools for word in tool.words}
    queries = _TALK if about & _ANYTHING else {**_TALK, **_WISHES}
    asked = [query for query, words in queries.items() if not telling_words(words) & about]
    for number, query in enumerate(choices.shuffled(asked)[:_MOST], 1):
        yield Draft(
            name=f"irrelevance {number}: {query[:40].rstrip()}",
            category=CATEGORY,
            query=query,
            expect={"no_calls": True},
        )
