"""The protocol room: the only one that knows MCP.

``wire`` shapes tools and results, ``jsonrpc`` lines of bytes, both without any library; ``sdk``
joins them to the ``mcp`` package; ``stdio`` and ``http`` carry the messages, ``guard`` stands before
every HTTP route, and ``stop`` ends the process in bounded time.
"""

from __future__ import annotations
