"""What of a question's events is kept with the conversation, beside its messages."""

from __future__ import annotations

from ..conversation import Journal
from ..events import (
    ElicitationAnswer,
    ElicitationRequest,
    Event,
    HookRan,
    Notice,
    SamplingAnswer,
    SamplingRequest,
    ToolApprovalAnswer,
    ToolApprovalRequest,
    ToolCallFinished,
    UsageReported,
)


def keep(journal: Journal | None, event: Event) -> None:
    """Tell ``journal`` of ``event`` if it keeps such: outcomes, usage, approvals, what
    servers asked, what hooks did, and what was left out."""
    if journal is None:
        return
    match event:
        case ToolCallFinished(outcome=outcome):
            journal.finished(outcome)
        case UsageReported(usage=usage):
            journal.note("usage", usage.as_dict())
        case ToolApprovalRequest() | ToolApprovalAnswer():
            journal.note("approval", event.as_dict())
        case ElicitationRequest() | ElicitationAnswer():
            journal.note("elicitation", event.as_dict())
        case SamplingRequest() | SamplingAnswer():
            journal.note("sampling", event.as_dict())
        case HookRan():
            journal.note("hook", event.as_dict())
        case Notice(text=text):
            journal.note("notice", {"text": text})
        case _:
            pass
