"""The same tools with decorators: on the ``mcp`` package's MCPServer, or on FastMCP.

``python decorated.py (mcp|fastmcp) stdio [TOOLS]`` or ``python decorated.py (mcp|fastmcp) http PORT``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def server(library: str) -> Any:
    module, name = ("mcp.server.mcpserver", "MCPServer") if library == "mcp" else ("fastmcp", "FastMCP")
    made: Any = getattr(import_module(module), name)("decorated")

    @made.tool()  # type: ignore[untyped-decorator]  # of either library
    def echo(text: str) -> dict[str, str]:
        return {"text": text}

    @made.tool()  # type: ignore[untyped-decorator]  # of either library
    def add(a: float, b: float) -> float:
        return a + b

    @made.tool()  # type: ignore[untyped-decorator]  # of either library
    def greet(name: str) -> str:
        return f"Hello, {name}!"

    return made


def main(library: str, transport: str, number: int) -> None:
    served = server(library)
    if transport == "stdio":
        for index in range(3, number):

            def tool(text: str) -> dict[str, str]:
                return {"text": text}

            served.tool(name=f"tool_{index}")(tool)
        served.run("stdio", **({"show_banner": False} if library == "fastmcp" else {}))
    else:
        import uvicorn

        app = (
            served.streamable_http_app(stateless_http=True, json_response=True)
            if library == "mcp"
            else served.http_app(stateless_http=True, json_response=True)
        )
        uvicorn.run(app, host="127.0.0.1", port=number, log_level="warning")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
