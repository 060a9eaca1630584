"""The two types that every kind has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from ..calls.context import Context
from ..problems import Path
from .discovery import Parts
from .environment import Environment
from .typed import TypedConfig


class Kind(Protocol):
    """A tool's live implementation. ``talks``: whether a call may use ``Context.client``."""

    @property
    def talks(self) -> bool: ...

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        """Run the tool on validated ``arguments`` and give any JSON value, or ``Content``.

        Raises ``ToolFailure`` with an error message meant for the model; any other
        exception becomes ``execution_error`` with its message.
        """
        ...


class UsesClient(Protocol):
    """What may talk to its client: a kind, a tool."""

    @property
    def talks(self) -> bool: ...


class CallsTools(ABC):
    """A kind that calls other tools by name."""

    @abstractmethod
    def bind(self, find: Callable[[str], UsesClient | None]) -> None:
        """From now on, ``find`` gives the tools by name. It is called again when they change."""


class KindConfig(TypedConfig):
    """What ``implementation`` says for one kind."""

    @property
    def counts_calls(self) -> bool:
        """Whether what a call gives depends on those before it, in the same process."""
        return False

    def target(self) -> str | None:
        """What every call depends on and hangs with, such as ``upstream 'files'``; ``None``: on nothing."""
        return None

    def misfits(self, parameters: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """Where it and the tool's ``parameters`` do not go together, as (key, message)."""
        return ()

    @classmethod
    def pinned(cls, written: Mapping[str, Any]) -> Iterable[Path]:
        """The paths in ``written``, its data before it is read, of arguments that every call is made with.

        The last part of each is the argument's name. The model must not see them among the parameters.
        """
        return ()

    @abstractmethod
    def build(self, environment: Environment) -> Kind:
        """The live kind. Cheap: what is heavy is imported and opened at the first call."""


KINDS = Parts[KindConfig]("toolspan_server.tools.kinds")
"""Every kind, by the ``type`` of its ``implementation``."""
