"""What our own server says of the sandbox in which its commands run."""

from __future__ import annotations

from toolspan_server.engines.upstreams import ListedTool

from .request import ApprovalRequest

_NONE = "sandbox:none"


def says_no_sandbox(tool: ListedTool) -> bool:
    """Whether the server of ``tool``, ours or another, says that it runs commands without a sandbox."""
    return _NONE in tool.tags


def lacks_sandbox(request: ApprovalRequest) -> bool:
    """Whether our own server says that the tool runs commands without a sandbox: no answer about it is kept.
    What another server says of a sandbox counts for nothing."""
    return request.is_own and says_no_sandbox(request.tool)
