"""What a client of the gateway asks for, the same for every inbound API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...messages import Message, ReasoningEffort, ToolChoice, ToolSpec

__all__ = ["Asked"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, read. ``messages`` are those that the client sees, without ``system``; ``tools`` are its
    own, without a server, and ``tool_choice`` may name one of them (``("", name)``), or one of ours.

    ``stops`` are the texts that end an answer; with ``stream`` it comes in pieces, and their last has the
    tokens if ``include_usage``. ``thoughts``: the client wants what the model lets be seen of its thoughts.
    ``previous`` is the id of the stored response that this one goes on from, and ``store`` whether this one
    is kept; with ``trim`` the oldest messages give way where the model's context is too short. ``echo`` are
    members of the request that the answers repeat. ``text_tools`` are names of those ``tools`` that take one
    text, ``input``, ``namespaces`` give the namespace of each that is in one, and its name there; with
    ``malformed_calls`` the client also gets calls whose arguments are no JSON object.
    ``settings`` are further ones of the answer by their common names. ``warnings`` say what of the request
    has no effect.
    """

    model: str
    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = "auto"
    parallel: bool | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    stops: tuple[str, ...] = ()
    stream: bool = False
    include_usage: bool = False
    reasoning: ReasoningEffort | None = None
    thoughts: bool = False
    answer_schema: Mapping[str, Any] | None = None
    previous: str = ""
    store: bool = False
    trim: bool = False
    echo: Mapping[str, Any] = field(default_factory=dict[str, Any])
    text_tools: frozenset[str] = frozenset()
    namespaces: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    malformed_calls: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    warnings: tuple[str, ...] = ()
