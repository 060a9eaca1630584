"""The directories that a kind, a source or a service uses."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..common.resource_pool import ResourcePool
from ..engines.isolation import ProcessLimits


@dataclass(frozen=True, slots=True)
class Environment:
    """Directories of a kind or service: relative paths start at ``config_dir``, state goes to ``state_dir``.

    ``shared`` is what they share, such as connections; ``processes`` is what worker processes may use.
    """

    config_dir: Path
    state_dir: Path
    shared: ResourcePool = field(default_factory=ResourcePool, compare=False, repr=False)
    processes: ProcessLimits = field(default_factory=ProcessLimits, compare=False, repr=False)
