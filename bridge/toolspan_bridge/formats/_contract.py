"""What every format offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..messages import Reply, Request, ToolSpec
from .names import NameTable


class FormatError(ValueError):
    """A provider's answer is not what its format says; the message says what was found instead."""


@dataclass(frozen=True, slots=True)
class WireError:
    """A provider's error answer, read. ``kind`` is its own word, ``retry_after`` in seconds."""

    status: int
    kind: str
    message: str
    retryable: bool
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Loss:
    """What a format cannot express of a tool: where (JSON pointer into its schema), by which rule, and
    what is sent instead. ``tool`` is the tool's wire name."""

    tool: str
    pointer: str
    rule: str
    repair: str


class Format(Protocol):
    """A wire format's module."""

    def render_tools(self, tools: Sequence[ToolSpec], names: NameTable) -> Any:
        """The exact tool payload, as the request carries it."""
        ...

    def render_request(self, request: Request, names: NameTable) -> dict[str, Any]:
        """The whole request body, non-streaming."""
        ...

    def parse_reply(self, body: Any) -> Reply:
        """One answer, decoded or as text. Raises ``FormatError``."""
        ...

    def parse_error(self, status: int, headers: Mapping[str, str], body: bytes) -> WireError:
        """What went wrong. Never raises: a body that is not as documented is quoted in part."""
        ...

    def losses(self, tools: Sequence[ToolSpec]) -> list[Loss]:
        """What the format cannot express of ``tools``, and which of them it leaves out."""
        ...

    def restore(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A call's arguments in the words of the tool's own schema: what ``render_tools`` changed, undone.

        Call it before validating and executing. Arguments that need nothing come back equal.
        """
        ...
