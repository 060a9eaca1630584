"""The environment of kinds, sources and services: directories and shared resources."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..common.call_patterns import CallRule
from ..common.resource_pool import ResourcePool
from ..engines.isolation import ProcessLimits
from ..engines.subagent_limits import SubagentLimits


@dataclass(frozen=True, slots=True)
class Environment:
    """The directories for live parts: relative paths start at ``config_dir``, state goes to ``state_dir``.

    ``own_paths`` are the files and folders that decide what Toolspan does (see ``config.kept_files``), and
    ``stored`` the folders of what tools store. ``shared`` is their pool of shared objects, such as
    connections; ``processes`` are the worker processes, ``subagents`` what each sub-agent may use.
    ``rules`` are those of the config about calls, in order, and ``server`` is the config's name.
    ``local_databases`` are the names of those that are a file or on this machine.
    """

    config_dir: Path
    state_dir: Path
    own_paths: tuple[Path, ...] = ()
    stored: tuple[Path, ...] = ()
    shared: ResourcePool = field(default_factory=ResourcePool, compare=False, repr=False)
    processes: ProcessLimits = field(default_factory=ProcessLimits, compare=False, repr=False)
    subagents: SubagentLimits = field(default_factory=SubagentLimits.initial, compare=False, repr=False)
    rules: tuple[CallRule, ...] = ()
    server: str = ""
    local_databases: frozenset[str] = frozenset()
