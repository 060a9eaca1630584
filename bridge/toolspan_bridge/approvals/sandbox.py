"""What a tool's server says of the sandbox in which its commands run."""

from __future__ import annotations

from toolspan_server.engines.upstreams import ListedTool

_SANDBOX, _NETWORK = "sandbox:", "network:"
_NONE = "none"


def sandbox_of(tool: ListedTool) -> str:
    """``bubblewrap, network off``, or a warning where there is no sandbox; empty where the server says
    nothing of it."""
    kind = _tagged(tool, _SANDBOX)
    if kind == _NONE:
        return "NONE: the command can do whatever you can; each one is asked about"
    network = _tagged(tool, _NETWORK)
    return f"{kind}, network {network}" if kind and network else kind


def lacks_sandbox(tool: ListedTool) -> bool:
    """Whether the server says that the tool runs commands without a sandbox: no answer about it is kept."""
    return _tagged(tool, _SANDBOX) == _NONE


def _tagged(tool: ListedTool, prefix: str) -> str:
    """The rest of the first tag that begins with ``prefix``; empty without one."""
    return next((tag.removeprefix(prefix) for tag in tool.tags if tag.startswith(prefix)), "")
