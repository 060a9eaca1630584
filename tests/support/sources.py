"""Sources, kinds and configs that a test holds in its hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from typing_extensions import override

from tests.support.executors import tool
from toolspan_server import Config, Context
from toolspan_server.config import ToolConfig
from toolspan_server.config.models.tools import Offer
from toolspan_server.parts.environment import Environment
from toolspan_server.parts.kind import Kind, KindConfig
from toolspan_server.parts.source import Source, SourceConfig
from toolspan_server.schema.records import key


def mock(name: str, response: Any = None, **more: Any) -> dict[str, Any]:
    """An entry of ``tools.registry`` that answers ``response``."""
    return tool(name, {"type": "mock", "mock_response": response}, **more)


def config_of(*tools: Any, sources: Sequence[SourceConfig] = (), **more: Any) -> Config:
    """A config with ``tools`` and ``sources``."""
    return Config.model_validate({"tools": {"registry": list(tools), "sources": list(sources)}, **more})


class Held:
    """A source that does what a test tells it. ``runs`` counts its starts, ``ended`` its ends."""

    def __init__(self) -> None:
        self.offer: Offer | None = None
        self.started = anyio.Event()
        self.fails = anyio.Event()
        self.runs = 0
        self.ended = 0
        self.answer: Mapping[str, Any] = {"name": "held", "state": "ready"}

    def offers(self, *tools: dict[str, Any]) -> None:
        """Offer ``tools``, as the config has them."""
        assert self.offer is not None
        self.offer([ToolConfig.model_validate(each) for each in tools])

    async def run(self, offer: Offer) -> None:
        self.offer = offer
        self.runs += 1
        self.started.set()
        try:
            await self.fails.wait()
            self.fails = anyio.Event()
            raise LookupError("the source broke")
        finally:
            self.ended += 1

    def state(self) -> Mapping[str, Any]:
        return self.answer


class HeldConfig(SourceConfig):
    """``label`` tells two of them apart; the live ones are in ``built``, in the order that they were made."""

    type: str = key(default="held")
    label: str = key(default="")

    @property
    def built(self) -> list[Held]:
        """The live sources of this config."""
        return _built.setdefault(id(self), [])

    @override
    def build(self, environment: Environment, services: Mapping[str, Any]) -> Source:
        self.built.append(Held())
        return self.built[-1]


_built: dict[int, list[Held]] = {}


class GateConfig(KindConfig):
    """A tool that answers ``label`` once its gate is opened; each call takes a place in ``waiting``."""

    type: str = key(default="gate")
    label: str = key(default="")

    @override
    def build(self, environment: Environment) -> Kind:
        return Gate(self.label)


class Gate:
    """What ``GateConfig`` builds. ``open`` lets every call through."""

    talks = False

    def __init__(self, label: str) -> None:
        self.label = label
        self.open = anyio.Event()
        self.entered = anyio.Event()

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        self.entered.set()
        await self.open.wait()
        return self.label
