"""The interface of every format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ...deltas import Delta
from ...messages import Reply, Request, ToolSpec
from ..names import NameTable


class FormatError(ValueError):
    """A provider's answer is not what its format requires; the message says what was found instead."""


@dataclass(frozen=True, slots=True)
class WireError:
    """A provider's error answer, read. ``kind`` is its own word, ``retry_after`` in seconds.

    ``tool`` is the tool that the provider refuses, if it says which: a wire name, or its place in the list.
    """

    status: int
    kind: str
    message: str
    retryable: bool
    retry_after: float | None = None
    tool: str | int | None = None


class StreamFailed(FormatError):
    """The provider reported in the middle of a stream, after HTTP 200, that it failed."""

    def __init__(self, error: WireError) -> None:
        super().__init__(error.message)
        self.error = error


Severity = Literal["error", "warning", "info"]


class StreamParser(Protocol):
    """Reads one streamed answer, whatever the pieces that its bytes come in. Pure: no clock, no I/O."""

    def feed(self, chunk: bytes) -> list[Delta]:
        """What ``chunk`` adds. Raises ``StreamFailed``, ``FormatError``; ``end`` still gives what came."""
        ...

    @property
    def finished(self) -> bool:
        """Whether the answer's own end has come; what follows it is ignored."""
        ...

    def end(self) -> Reply:
        """The reply, equal to ``parse_reply`` of the same answer; ``incomplete`` when its end is missing."""
        ...


@dataclass(frozen=True, slots=True)
class Loss:
    """What a format cannot express of a tool: where (JSON pointer into its schema), by which rule, and
    what is sent instead. ``tool`` is the tool's wire name.

    ``severity``: ``error`` for what the provider would reject (the tool is left out), ``warning`` for what it
    would ignore or what is dropped, ``info`` for what is said in other words. ``fix`` proposes what to change
    in the tool so that nothing is lost.
    """

    tool: str
    pointer: str
    rule: str
    repair: str
    severity: Severity = "warning"
    fix: str = ""

    @property
    def leaves_out(self) -> bool:
        """Whether no tool goes by this name to the provider; of two with one name, the first still does."""
        return self.severity == "error" and self.rule != "duplicate-tool"


class Format(Protocol):
    """A wire format's module."""

    def render_tools(self, tools: Sequence[ToolSpec], names: NameTable) -> Any:
        """The exact tool payload, as the request carries it."""
        ...

    def render_request(self, request: Request, names: NameTable) -> dict[str, Any]:
        """The whole request body; ``request.stream`` says whether it asks for a stream."""
        ...

    def parse_reply(self, body: Any) -> Reply:
        """One answer, decoded or as text. Raises ``FormatError``."""
        ...

    def parse_stream(self) -> StreamParser:
        """A parser for one answer to a request with ``stream``."""
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
