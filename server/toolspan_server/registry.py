"""The registry: every tool of a config, compiled once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .config import Config, ToolConfig
from .kinds import Environment, Kind
from .parameters import Parameters


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool ready to run: its config, its compiled parameters, its live kind."""

    config: ToolConfig
    parameters: Parameters
    kind: Kind
    timeout_ms: int

    @property
    def name(self) -> str:
        return self.config.name


class Registry:
    """The tools by name, in the order of the config."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {tool.name: tool for tool in tools}

    @classmethod
    def from_config(cls, config: Config) -> Registry:
        """Compile every tool of ``config``; none when ``tools.enabled`` is false."""
        if not config.tools.enabled:
            return cls()
        environment = Environment(config.directory, config.state_directory)
        default = config.tools.default_timeout_ms
        return cls(
            Tool(
                config=tool,
                parameters=Parameters(tool.parameters),
                kind=tool.implementation.build(environment),
                timeout_ms=tool.timeout_ms or default,
            )
            for tool in config.tools.registry
        )

    def get(self, name: str) -> Tool | None:
        """The tool ``name``, or ``None``."""
        return self._tools.get(name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)
