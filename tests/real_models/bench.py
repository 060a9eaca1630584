"""The wires of one engine, with tools, to be asked over each of them."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from toolspan_bridge import (
    Asker,
    Message,
    Question,
    Request,
    Toolbox,
    run,
    servers_of,
)
from toolspan_bridge.events import (
    Answer,
    End,
    Event,
)
from toolspan_bridge.loop import DEFAULT_SYSTEM
from toolspan_bridge.messages import Reply
from toolspan_bridge.providers import ProviderPool
from toolspan_server import Config, load_config

WIRES = ("llamacpp", "engine-responses", "engine-anthropic", "prompt:llamacpp", "prompt:engine-anthropic")
"""The providers as which the engine is asked: its formats, and the prompt format over two of them."""

CONFIG = Path(__file__).with_name("tools.yaml")
_MAX_TOKENS = 160
_MAX_ITERATIONS = 3


@dataclass(frozen=True, slots=True)
class Bench:
    """One engine at ``base``, its ``model``, and the tools that it may call."""

    base: str
    model: str
    config: Config
    toolbox: Toolbox
    pool: ProviderPool

    async def events(self, wire: str, text: str, transcript: list[Message], *, stream: bool) -> list[Event]:
        """Everything that happens while the question is answered. Raises ``BridgeError``."""
        provider, name = await self.pool.get(f"{wire}/{self.model}")
        question = Question(
            text,
            name,
            system=DEFAULT_SYSTEM,
            max_iterations=_MAX_ITERATIONS,
            max_tokens=_MAX_TOKENS,
            temperature=0.0,
            stream=stream,
        )
        return [event async for event in run(question, provider, self.toolbox, transcript=transcript)]

    async def ask(self, wire: str, text: str, transcript: list[Message] | None = None) -> Answer:
        """The answer to the question, which is added to ``transcript``. Raises ``BridgeError``."""
        events = await self.events(wire, text, [] if transcript is None else transcript, stream=False)
        end = events[-1]
        assert isinstance(end, End)
        return end.answer

    async def reply(self, wire: str, *messages: Message, stream: bool = False) -> Reply:
        """One turn of the model after ``messages``. Raises ``BridgeError``."""
        provider, name = await self.pool.get(f"{wire}/{self.model}")
        request = Request(
            name,
            messages,
            system=DEFAULT_SYSTEM,
            tools=self.toolbox.tools,
            max_tokens=_MAX_TOKENS,
            temperature=0.0,
        )
        if not stream:
            return await provider.answer(request)
        items = [item async for item in provider.stream(request)]
        assert isinstance(items[-1], Reply)
        return items[-1]

    def asker(self) -> Asker:
        """What puts the questions of a validation."""
        return Asker(self.config, self.toolbox)


@asynccontextmanager
async def bench(base: str, model: str) -> AsyncGenerator[Bench]:
    """The engine at ``base``, connected."""
    os.environ["LLAMACPP_BASE_URL"] = f"{base}/v1"
    own = {
        "engine-responses": {"base_url": f"{base}/v1", "format": "openai-responses"},
        "engine-anthropic": {"base_url": base, "format": "anthropic"},
        "engine-elsewhere": {"base_url": f"{base}/no/such/path", "format": "openai"},
    }
    config = Config.model_validate({"providers": own})
    async with (
        Toolbox.connect(servers_of(load_config(CONFIG))) as toolbox,
        ProviderPool(config) as pool,
    ):
        assert not toolbox.failures, toolbox.failures
        yield Bench(base, model, config, toolbox, pool)
