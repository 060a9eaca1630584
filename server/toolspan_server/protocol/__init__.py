"""The protocol room: the only one that knows MCP.

``wire`` shapes tools and results, ``jsonrpc`` reads and writes messages, and ``fast_path`` answers the plain
ones, all without any library; ``sdk`` joins the executor to the ``mcp`` package, for everything else.
``stdio`` and ``http`` carry the messages, ``guard`` stands before every HTTP route, and ``stop`` ends the
process in bounded time.
"""

from __future__ import annotations
