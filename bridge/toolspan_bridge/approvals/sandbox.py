"""What our own server says of the sandbox in which its commands run."""

from __future__ import annotations

from .request import ApprovalRequest

_NONE = "sandbox:none"


def lacks_sandbox(request: ApprovalRequest) -> bool:
    """Whether our own server says that the tool runs commands without a sandbox: no answer about it is kept.
    What another server says of a sandbox counts for nothing."""
    return request.is_own and _NONE in request.tool.tags
