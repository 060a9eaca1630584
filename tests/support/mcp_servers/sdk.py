"""A server built on the official SDK: ``python sdk.py stdio|http|sse [PORT]``."""

from __future__ import annotations

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("sdk")


@server.tool()
def add(a: int, b: int) -> int:
    """The sum of two integers."""
    return a + b


@server.tool()
def greet(name: str) -> str:
    """A greeting."""
    return f"Hello, {name}!"


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("not today")


if __name__ == "__main__":
    kind, port = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    if kind == "stdio":
        server.run("stdio")
    elif kind == "http":
        server.run("streamable-http", host="127.0.0.1", port=port)
    else:
        server.run("sse", host="127.0.0.1", port=port)
