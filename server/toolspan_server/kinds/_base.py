"""The two types that every kind has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .._records import Record, key, text
from ..context import Context


@dataclass(frozen=True, slots=True)
class Environment:
    """Where a kind or service lives: relative paths start at ``config_dir``, state goes to ``state_dir``."""

    config_dir: Path
    state_dir: Path


class Kind(Protocol):
    """A tool's live implementation. ``talks``: whether a call may use ``Context.client``."""

    @property
    def talks(self) -> bool: ...

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        """Run the tool on validated ``arguments`` and give any JSON value, or ``Content``.

        Raises ``ToolFailure`` for what the model should be told in chosen words; any other
        exception becomes ``execution_error`` with its message.
        """
        ...


class KindConfig(Record, ABC):
    """What ``implementation`` says for one kind."""

    type: str = key(text())

    def problems(self) -> Iterable[tuple[str, str]]:
        """Faults that no schema shows, as (key, message): an unknown handler, say."""
        return ()

    @abstractmethod
    def build(self, environment: Environment) -> Kind:
        """The live kind. Cheap: what is heavy is imported and opened at the first call."""
