"""The registry: every tool of a config, compiled once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from ..common.tool_hints import join_hints
from ..config import Config, ToolConfig
from ..engines.isolation import ProcessLimits
from ..engines.parameters import Parameters
from ..parts.environment import Environment
from ..parts.kind import CallsTools, Kind
from ..parts.reach import Reach
from ..parts.step import STEPS
from ..schema.records import is_same
from .unconfined_commands import asking_without_sandbox
from .withheld_variables import withheld


@dataclass(frozen=True, slots=True)
class Tool:
    """A live tool: its config, its compiled parameters, its live kind."""

    config: ToolConfig
    parameters: Parameters
    kind: Kind
    timeout_ms: int
    own_reach: Reach = "outside"

    @property
    def name(self) -> str:
        """The name by which it is called."""
        return self.config.name

    @property
    def talks(self) -> bool:
        """Whether a call may report or ask something to its client before it ends."""
        return self.kind.talks or any(getattr(self.config, key) is not None for key in _ASKING)

    @property
    def has_preview(self) -> bool:
        """Whether the tool's own code says what a person is shown of a call."""
        return bool(getattr(self.kind, "has_preview", False))

    @property
    def reach(self) -> Reach:
        """How far its calls go: those of one that calls other tools as far as theirs."""
        return self.kind.reach if isinstance(self.kind, CallsTools) else self.own_reach

    @property
    def hints(self) -> dict[str, Any]:
        """What is known of its calls: what its config says, completed by what its implementation does."""
        derived = self.kind.hints if isinstance(self.kind, CallsTools) else self.config.implementation.hints()
        said = self.config.annotations
        return join_hints({} if said is None else said.model_dump(), derived)

    @property
    def passes_tasks(self) -> bool:
        """Whether a call may come to go on as a task, which somebody else makes of it."""
        return bool(getattr(self.kind, "passes_tasks", False))


_STEP_KEYS = STEPS.own_keys()
_ASKING = ("approval", *(name for name, config in _STEP_KEYS.items() if config.talks))
_UNLISTED = frozenset(
    (
        "handler",
        "type",
        "implementation",
        "annotations",  # they are a part of the hints
        "timeout_ms",
        "cache",
        "rate_limit",
        "approval",
        *_STEP_KEYS,
    )
)


_REVISIONS = count(1)


class Registry:
    """The tools by name: those of the config in its order, then those of sources, in their order.

    ``revision`` changes whenever the tools do; no two registries have the same.
    """

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._own = tuple(tools)
        self._offered: dict[int, tuple[Tool, ...]] = {}
        self._tools: dict[str, Tool] = {}
        self._places: dict[str, int | None] = {}
        self.revision = 0
        self._put_together()

    @classmethod
    def from_config(
        cls, config: Config, environment: Environment | None = None, earlier: Registry | None = None
    ) -> Registry:
        """Compile every tool of ``config``; none when ``tools.enabled`` is false.

        A tool that is unchanged from ``earlier``, which has the same environment, is reused.
        """
        if not config.tools.enabled:
            return cls()
        where = environment or environment_of(config)
        default = config.tools.default_timeout_ms
        known = {} if earlier is None else {tool.name: tool for tool in earlier._own}
        return cls(
            _kept(known.get(tool.name), tool, default) or compile_tool(tool, where, default)
            for tool in (asking_without_sandbox(each, config) for each in config.tools.registry)
        )

    def offer(self, source: int, tools: Iterable[Tool]) -> list[tuple[int | None, str]]:
        """Set ``tools`` as those of the source at that index, instead of its earlier ones.

        Returns what is left out because another tool has the name: the index of its source, and the name. It
        may be of another source, whose tool was there until now.
        """
        self._offered[source] = tuple(tools)
        return self._put_together()

    def get(self, name: str) -> Tool | None:
        """The tool ``name``, or ``None``."""
        return self._tools.get(name)

    def lists_the_same(self, tools: Sequence[Tool]) -> bool:
        """Whether listing these tools gives the same as listing ``tools``."""
        own = list(self)
        return len(own) == len(tools) and all(map(_listed_alike, own, tools))

    def place(self, name: str) -> int | None:
        """The index of the source of the tool with this name, ignoring case; ``None`` for a tool of no
        source.
        """
        return self._places.get(name.lower())

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def _put_together(self) -> list[tuple[int | None, str]]:
        tools: dict[str, Tool] = {}
        places: dict[str, int | None] = {}
        taken: list[tuple[int | None, str]] = []
        offered = [(place, self._offered[place]) for place in sorted(self._offered)]
        for place, group in [(None, self._own), *offered]:
            for tool in group:
                if tool.name.lower() in places:
                    taken.append((place, tool.name))
                    continue
                places[tool.name.lower()] = place
                tools[tool.name] = tool
        self._tools, self._places = tools, places
        self.revision = next(_REVISIONS)
        kinds = {type(tool.kind) for tool in tools.values()}
        if any(issubclass(kind, CallsTools) for kind in kinds):
            for tool in tools.values():
                if isinstance(tool.kind, CallsTools):
                    tool.kind.bind(self.get)
        return taken


class CompiledTools(NamedTuple):
    """The tools of a config, compiled ahead of serving, and their environment."""

    environment: Environment
    registry: Registry


def environment_of(config: Config) -> Environment:
    """The environment of the tools of ``config``."""
    limits = config.limits
    processes = ProcessLimits(
        limits.handler_processes,
        limits.handler_memory_bytes,
        limits.handler_cpu_seconds,
        limits.result_bytes,
        withheld(config),
    )
    return Environment(
        config.directory,
        config.state_directory,
        *_left_alone(config),
        processes=processes,
        subagents=limits.subagents,
        rules=() if config.approvals is None else config.approvals.call_rules(),
        server=config.name,
        local_databases=frozenset(_local_databases(config)),
    )


def _left_alone(config: Config) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """What the tools of workspaces do not change, and the folders that they do not read."""
    if not config.services.entries("workspaces"):
        return (), ()
    from ..common.state.folder import STORAGE_FOLDER
    from ..config.kept_files import own_paths

    used = (config, *config.beside)
    return own_paths(config), tuple(each.state_directory.absolute() / STORAGE_FOLDER for each in used)


def _local_databases(config: Config) -> Iterator[str]:
    for name, entry in config.services.entries("databases").items():
        host = entry.host
        if host is None or host == "localhost" or host in ("127.0.0.1", "::1"):
            yield name


def compile_tools(config: Config) -> CompiledTools:
    """Every tool of ``config``, compiled in an environment of its own."""
    environment = environment_of(config)
    return CompiledTools(environment, Registry.from_config(config, environment))


def _listed_alike(one: Tool, other: Tool) -> bool:
    return one is other or is_same(_listed(one), _listed(other))


def _listed(tool: Tool) -> list[Any]:
    """All that a list may contain of ``tool``."""
    fields = [getattr(tool.config, name) for name in tool.config.model_fields if name not in _UNLISTED]
    return [*fields, tool.hints]


def _kept(earlier: Tool | None, tool: ToolConfig, default_timeout_ms: int) -> Tool | None:
    """``earlier``, if compiling ``tool`` would give the same."""
    if earlier is None or earlier.timeout_ms != (tool.timeout_ms or default_timeout_ms):
        return None
    return earlier if is_same(earlier.config, tool) else None


def compile_tool(tool: ToolConfig, environment: Environment, default_timeout_ms: int) -> Tool:
    """Compile ``tool``."""
    return Tool(
        config=tool,
        parameters=Parameters(tool.parameters, fill_defaults=tool.implementation.fills_defaults),
        kind=tool.implementation.build(environment),
        timeout_ms=tool.timeout_ms or default_timeout_ms,
        own_reach=tool.implementation.reach(tool.tags, environment),
    )
