"""The registry: every tool of a config, compiled once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

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

    @property
    def talks(self) -> bool:
        """Whether a call may say something to its client, or ask it something, before it ends."""
        return self.kind.talks


class Registry:
    """The tools by name: those of the config in its order, then what sources offer, in theirs."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._own = tuple(tools)
        self._offered: dict[int, tuple[Tool, ...]] = {}
        self._tools: dict[str, Tool] = {}
        self._put_together()

    @classmethod
    def from_config(cls, config: Config) -> Registry:
        """Compile every tool of ``config``; none when ``tools.enabled`` is false."""
        if not config.tools.enabled:
            return cls()
        environment = Environment(config.directory, config.state_directory)
        default = config.tools.default_timeout_ms
        return cls(compiled(tool, environment, default) for tool in config.tools.registry)

    def offer(self, source: int, tools: Iterable[Tool]) -> list[str]:
        """Have ``tools`` as those of the source at that place of the config, instead of its earlier ones.

        Gives the names that others have already; those tools are left out.
        """
        self._offered[source] = tuple(tools)
        return self._put_together()

    def get(self, name: str) -> Tool | None:
        """The tool ``name``, or ``None``."""
        return self._tools.get(name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def _put_together(self) -> list[str]:
        tools: dict[str, Tool] = {}
        taken: list[str] = []
        seen: set[str] = set()
        for tool in chain(self._own, *(self._offered[place] for place in sorted(self._offered))):
            if tool.name.lower() in seen:
                taken.append(tool.name)
                continue
            seen.add(tool.name.lower())
            tools[tool.name] = tool
        self._tools = tools
        return taken


def compiled(tool: ToolConfig, environment: Environment, default_timeout_ms: int) -> Tool:
    """``tool``, ready to run."""
    return Tool(
        config=tool,
        parameters=Parameters(tool.parameters),
        kind=tool.implementation.build(environment),
        timeout_ms=tool.timeout_ms or default_timeout_ms,
    )
