"""The interface of every format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ...errors import Fault
from ...messages import Reply, Request, ToolSpec
from ...messages.deltas import Delta
from ..names import NameTable


class FormatError(ValueError):
    """A provider's answer violates its format; the message describes what was received. ``before`` are the
    deltas that came before it in the same bytes of a stream."""

    before: Sequence[Delta] = ()


@dataclass(frozen=True, slots=True)
class WireError:
    """A provider's error answer, parsed. ``kind`` is the provider's error type, ``retry_after`` in seconds.

    ``tool`` is the tool that the provider refuses, if it says which: a wire name, or its index in the list.
    ``fault`` is what the error is about; ``parameter`` is the setting that is not taken, and
    ``counted_tokens`` of the request, with ``answer_tokens`` that its answer may have where it is both
    together, are more than ``maximum_tokens``, each where it is said. ``limits`` are the headers about the
    provider's limits of rate, by their names in small letters.
    """

    status: int
    kind: str
    message: str
    retryable: bool
    retry_after: float | None = None
    tool: str | int | None = None
    fault: Fault = "other"
    parameter: str = ""
    counted_tokens: int | None = None
    maximum_tokens: int | None = None
    answer_tokens: int | None = None
    limits: Mapping[str, str] = field(default_factory=dict[str, str])


class StreamFailed(FormatError):
    """The provider reported a failure after HTTP 200: during a stream, or in the place of an answer."""

    def __init__(self, error: WireError) -> None:
        super().__init__(error.message)
        self.error = error


Severity = Literal["error", "warning", "info"]


class StreamParser(Protocol):
    """Parses one streamed answer, however its bytes are split. Pure: no clock, no I/O."""

    def feed(self, chunk: bytes) -> list[Delta]:
        """The deltas in ``chunk``. Raises ``StreamFailed``, ``FormatError``; ``end`` still returns what was
        received.
        """
        ...

    @property
    def finished(self) -> bool:
        """Whether the answer's own end was received; anything after it is ignored."""
        ...

    def end(self) -> Reply:
        """The reply, equal to ``parse_reply`` of the same answer; ``incomplete`` when its end is missing."""
        ...


@dataclass(frozen=True, slots=True)
class Loss:
    """A part of a tool that a format cannot express: where (JSON pointer into its schema), by which rule, and
    the repair: what is sent instead. ``tool`` is the tool's wire name.

    ``severity``: ``error`` for what the provider would reject (the tool is left out), ``warning`` for what it
    would ignore or what is dropped, ``info`` for what is expressed in another way. ``fix`` proposes a change
    of the tool that avoids the loss.
    """

    tool: str
    pointer: str
    rule: str
    repair: str
    severity: Severity = "warning"
    fix: str = ""

    @property
    def leaves_out(self) -> bool:
        """Whether the provider gets no tool with this name; of two with one name, the first is still sent."""
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
        """Parse one answer, decoded or as text. Raises ``FormatError``."""
        ...

    def parse_stream(self) -> StreamParser:
        """A parser for one answer to a request with ``stream``."""
        ...

    def parse_error(self, status: int, headers: Mapping[str, str], body: bytes) -> WireError:
        """Parse an error. Never raises: an undocumented body is quoted in part."""
        ...

    def losses(self, tools: Sequence[ToolSpec]) -> list[Loss]:
        """The losses of ``tools`` in this format, and the tools that it leaves out."""
        ...

    def restore(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A call's arguments in terms of the tool's own schema: changes of ``render_tools`` undone.

        Call it before validating and executing. Arguments without changes are returned equal.
        """
        ...
