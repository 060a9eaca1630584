"""``words``: a tool for each of some words, which gives the word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import anyio
from typing_extensions import override

from ...config import ToolConfig
from ...parts.environment import Environment
from ...parts.source import Offer, Source, SourceConfig
from ...schema.constraints import Limits, OneOf
from ...schema.records import key


class Config(SourceConfig):
    """``{"type": "words", "words": ["yes", "no"]}``."""

    type: Annotated[str, OneOf(("words",))] = key(default="words")
    words: tuple[Annotated[str, Limits(pattern=r"^[a-z]{1,50}$")], ...] = key("The words.", least=1)

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
