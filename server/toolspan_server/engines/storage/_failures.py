"""The ways in which storage fails, in words for the model; where it is stored is for the operator alone."""

from __future__ import annotations

from ...errors import ToolFailure

_UNCHANGED = "what was stored before is unchanged"


def damaged(where: str, why: str) -> ToolFailure:
    """What is stored cannot be read as what was written; it is left as it is."""
    return ToolFailure(
        "What this tool has stored for the conversation is damaged, and was left as it is",
        error_code="storage_damaged",
        user_action="Whoever runs the server can repair or remove it.",
        detail=f"{where}: {why}",
    )


def failed(what: str, where: str, why: str) -> ToolFailure:
    """The disk or the database did not do it. ``what`` is ``read`` or ``written``."""
    return ToolFailure(
        f"The storage of the tool cannot be {what}; {_UNCHANGED}",
        error_code="storage_error",
        user_action="Try again; if that does not help, whoever runs the server can look at its log.",
        detail=f"{where}: {why}",
    )


def held(where: str, seconds: float) -> ToolFailure:
    """Another process does not let go of it."""
    return ToolFailure(
        f"The storage of the tool has been locked by another process for {seconds:g} s; {_UNCHANGED}",
        error_code="storage_busy",
        user_action="Try again.",
        detail=where,
    )


def not_json(error: Exception) -> ToolFailure:
    """The handler stores what cannot be stored."""
    return ToolFailure(
        f"Storage holds JSON values only ({type(error).__name__}: {error}); {_UNCHANGED}",
        error_code="storage_value",
        user_action="The handler of the tool has to store something else.",
    )


def too_large(size: int, limit: int) -> ToolFailure:
    """The document would be larger than its quota."""
    return ToolFailure(
        f"A tool may store {limit:,} bytes for one conversation (storage.document_bytes), and this would be "
        f"{size:,}; {_UNCHANGED}",
        error_code="storage_quota",
        user_action="Store less, or raise storage.document_bytes in the config.",
    )


def full(used: int, limit: int) -> ToolFailure:
    """The user has used up their quota. ``used`` counts what was to be stored now."""
    return ToolFailure(
        f"Tools may store {limit:,} bytes for one user (storage.user_bytes), and this would make it "
        f"{used:,}; {_UNCHANGED}",
        error_code="storage_quota",
        user_action="Clear what is not needed any more, or raise storage.user_bytes in the config.",
    )
