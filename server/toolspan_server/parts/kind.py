"""The interface of kinds: the config of an implementation, and the live kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from ..calls.context import Context
from ..common.tool_hints import Hints
from ..problems import Path
from .discovery import Parts
from .environment import Environment
from .reach import Reach
from .typed import TypedConfig

if TYPE_CHECKING:
    from ..engines.definitions.call_preview import CallPreview


class Kind(Protocol):
    """A tool's live implementation. ``talks``: whether a call may use ``Context.client``."""

    @property
    def talks(self) -> bool: ...

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        """Run the tool on validated ``arguments`` and return any JSON value, or ``Content``.

        Raises ``ToolFailure`` with an error message meant for the model; any other
        exception becomes ``execution_error`` with its message.
        """
        ...


class Callee(Protocol):
    """A tool as one that calls it sees it: ``talks`` says whether it may use the client of a call, ``reach``
    how far its calls go, ``hints`` what it says of them."""

    @property
    def talks(self) -> bool: ...

    @property
    def hints(self) -> Mapping[str, Any]: ...

    @property
    def reach(self) -> Reach: ...


class PreviewsCalls(Protocol):
    """A kind that says itself what a person is shown of a call: its ``has_preview`` is true."""

    async def preview(self, arguments: Mapping[str, Any], context: Context) -> CallPreview:
        """What a person is shown of a call with validated ``arguments``. Raises ``ToolFailure``."""
        ...


class CallsTools(ABC):
    """A kind that calls other tools by name."""

    @abstractmethod
    def bind(self, find: Callable[[str], Callee | None]) -> None:
        """Set ``find``, which returns tools by name. Called again when the tools change."""

    @property
    @abstractmethod
    def reach(self) -> Reach:
        """The farthest reach of the tools that it calls."""

    @property
    @abstractmethod
    def hints(self) -> Hints:
        """What the tools that it calls say of their calls, together."""


class KindConfig(TypedConfig):
    """The config keys of one kind, under ``implementation``."""

    @property
    def counts_calls(self) -> bool:
        """Whether results depend on earlier calls in the same process."""
        return False

    @property
    def fills_defaults(self) -> bool:
        """Whether a call gets the defaults of ``parameters`` for what its caller leaves out.

        What asks another program does not: there a field that is left out stays as it is.
        """
        return True

    @property
    def server(self) -> str:
        """The upstream server that calls go to; empty for none."""
        return ""

    def target(self) -> str | None:
        """The target that calls depend on and may hang with, such as ``upstream 'files'``; ``None``: none."""
        return None

    def reach(self, tags: Collection[str], environment: Environment) -> Reach:
        """How far the calls of a tool with ``tags`` go. What does not say that it stays here reaches
        outside."""
        del tags, environment
        return "outside"

    def hints(self) -> Hints:
        """What this config says of its calls: whether they change something, say. Empty: nothing."""
        return {}

    def misfits(self, parameters: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """Conflicts between this config and the tool's ``parameters``, as (key, message)."""
        return ()

    @classmethod
    def pinned(cls, written: Mapping[str, Any]) -> Iterable[Path]:
        """The paths of pinned arguments in ``written``, the raw data: arguments with fixed values.

        The last part of each is the argument's name. The model must not see them among the parameters.
        """
        return ()

    @abstractmethod
    def build(self, environment: Environment) -> Kind:
        """The live kind. Cheap: expensive imports and connections wait for the first call."""


KINDS = Parts[KindConfig]("toolspan_server.tools.kinds")
"""Every kind, by the ``type`` of its ``implementation``."""
