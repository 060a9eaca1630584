"""``words``: a tool for each of some words, which gives the word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from typing_extensions import override

from ...config import ToolConfig
from ...parts.environment import Environment
from ...parts.source import Offer, Source, SourceConfig
from ...schema.records import choice, key, many, text


class Config(SourceConfig):
    """``{"type": "words", "words": ["yes", "no"]}``."""

    type: str = key(choice("words"), default="words")
    words: tuple[str, ...] = key(many(text(pattern=r"^[a-z]{1,50}$"), least=1), "The words.")

    @override
    def build(self, environment: Environment, services: Mapping[str, Any]) -> Source:
        return _Words(self.words)


class _Words:
    def __init__(self, words: tuple[str, ...]) -> None:
        self._words = words

    async def run(self, offer: Offer) -> None:
        offer([self._tool(word) for word in self._words])
        await anyio.sleep_forever()

    def state(self) -> Mapping[str, Any]:
        return {"name": "words", "state": "ready"}

    def _tool(self, word: str) -> ToolConfig:
        implementation = {"type": "mock", "mock_response": word}
        return ToolConfig(name=word, description=f"Gives {word}", implementation=implementation)
