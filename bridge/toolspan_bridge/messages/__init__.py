"""What a conversation is made of, the same for every provider: messages, and the pieces of a stream."""

from __future__ import annotations

from .records import (
    BROKEN_STOPS,
    EFFORTS,
    Assistant,
    Citation,
    Json,
    Mark,
    Message,
    Part,
    ReasoningEffort,
    Reply,
    Request,
    StopReason,
    ToolCall,
    ToolChoice,
    ToolOutcome,
    ToolResults,
    ToolSpec,
    Usage,
    User,
    WireOptions,
)

__all__ = [
    "BROKEN_STOPS",
    "EFFORTS",
    "Assistant",
    "Citation",
    "Json",
    "Mark",
    "Message",
    "Part",
    "ReasoningEffort",
    "Reply",
    "Request",
    "StopReason",
    "ToolCall",
    "ToolChoice",
    "ToolOutcome",
    "ToolResults",
    "ToolSpec",
    "Usage",
    "User",
    "WireOptions",
]
