"""The same tools on the ``mcp`` package's low-level server, as its documentation shows it.

``python low_level.py stdio [TOOLS]`` or ``python low_level.py http PORT``.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

NAMES = ["echo", "add", "greet"]
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def answer(name: str, given: dict[str, Any]) -> Any:
    if name == "add":
        return given["a"] + given["b"]
    if name == "greet":
        return f"Hello, {given['name']}!"
    return {"text": given["text"]}


async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name=name, input_schema=TEXT) for name in NAMES])


async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    value = answer(params.name, params.arguments or {})
    text = value if isinstance(value, str) else json.dumps(value)
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content={"result": value})


def server() -> Server[Any]:
    return Server("low-level", on_list_tools=list_tools, on_call_tool=call_tool)


async def stdio() -> None:
    served = server()
    async with stdio_server() as (incoming, outgoing):
        await served.run(incoming, outgoing, served.create_initialization_options())


def http(port: int) -> None:
    import uvicorn

    app = server().streamable_http_app(stateless_http=True, json_response=True)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        NAMES.extend(f"tool_{number}" for number in range(len(NAMES), int(sys.argv[2])))
        anyio.run(stdio)
    else:
        http(int(sys.argv[2]))
