"""What a conversation is made of, the same for every provider.

Plain data: no I/O, no provider's words. Formats render it to a wire and parse it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Json = Any
"""Any JSON value."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is to see it. ``schema`` is the original JSON Schema of its arguments."""

    server: str
    name: str
    description: str
    schema: Mapping[str, Any]

    @property
    def key(self) -> tuple[str, str]:
        """What identifies the tool: its server's name and its own."""
        return (self.server, self.name)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to call a tool. ``name`` is the wire name that the model wrote.

    ``arguments`` is ``None`` when what the model sent is no JSON object; ``malformed`` then says why,
    and ``raw`` holds what it sent. ``opaque`` is provider state to be sent back verbatim.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    raw: str = ""
    malformed: str = ""
    opaque: Json = None


@dataclass(frozen=True, slots=True)
class Part:
    """One block of a tool's output, as MCP gives it: ``type`` text, image, audio, resource_link, resource."""

    type: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool call came to, both for people and for the model.

    ``result`` is the tool result object that users rely on (``success``, ``result`` or ``error`` …,
    ``tool_name``, ``execution_time_ms``); ``parts`` are the MCP content blocks behind it, and ``structured``
    is MCP's ``structuredContent`` where the server sent one. Without parts, models are shown ``result``.
    """

    call_id: str
    name: str
    result: Mapping[str, Any]
    parts: tuple[Part, ...] = ()
    structured: Json = None

    @property
    def failed(self) -> bool:
        """Whether the tool did not succeed."""
        return not self.result.get("success")


@dataclass(frozen=True, slots=True)
class User:
    """What the person said."""

    text: str


@dataclass(frozen=True, slots=True)
class Assistant:
    """What the model said: text, tool calls, or both. ``opaque`` is its wire form where that must be echoed,
    valid for the format ``opaque_format`` only."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    opaque: Json = None
    opaque_format: str = ""


@dataclass(frozen=True, slots=True)
class ToolResults:
    """The outcomes of one assistant turn's calls: one for each call, in their order."""

    outcomes: tuple[ToolOutcome, ...]


Message = User | Assistant | ToolResults


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more requests, with the provider's own numbers in ``raw``."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    raw: tuple[Mapping[str, Any], ...] = ()

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.raw + other.raw,
        )

    def as_dict(self) -> dict[str, int]:
        """The four sums, as JSON."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
            "reasoning_tokens": self.reasoning_tokens,
        }


ToolChoice = Literal["auto", "none", "required"]


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model: everything that a format needs to write it.

    ``vision`` says whether the model takes images; where it does not, a placeholder stands for each.
    ``max_result_bytes`` cuts the text of each tool result, and the cut is stated in it.
    """

    model: str
    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = "auto"
    max_tokens: int | None = None
    temperature: float | None = None
    vision: bool = True
    max_result_bytes: int = 1_048_576


StopReason = Literal["stop", "length", "refusal", "other"]


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of a model. Whether it is a tool turn is told by its calls, never by ``stop``.

    A turn that was cut off (``stop`` is ``length``) has no calls to carry out: any of them may be incomplete
    in a way that cannot be seen. They are in ``cut_calls``, to be shown and not to be executed.
    """

    message: Assistant
    stop: StopReason = "stop"
    usage: Usage = field(default_factory=Usage)
    cut_calls: tuple[ToolCall, ...] = ()
