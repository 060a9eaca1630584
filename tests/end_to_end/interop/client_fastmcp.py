"""FastMCP's client: does what its argument (JSON) says, prints what it saw. Runs in a venv of its own."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport

TARGET: dict[str, Any] = json.loads(sys.argv[1])
ASKED: list[str] = []


async def main() -> None:
    async with Client(transport(), elicitation_handler=elicited) as client:
        progress: list[Any] = []

        async def reported(step: float, total: float | None, message: str | None) -> None:
            progress.append([step, total, message])

        tools = [tool.name for tool in await client.list_tools()]
        seen = {
            "tools": tools,
            "add": text(await client.call_tool("add", {})),
            "count": text(await client.call_tool("count", {}, progress_handler=reported)),
            "progress": progress,
            "paint": text(await client.call_tool("paint", {"thing": "door"})),
            "asked": ASKED,
            "cancelled": await cancelled(client),
            "afterwards": text(await client.call_tool("add", {})),
            "prompt": (await client.get_prompt("greet", {"name": "Ada"})).messages[0].content.text,
            "resource": (await client.read_resource("notes://welcome"))[0].text,
        }
    print(json.dumps(seen))


def transport() -> Any:
    if TARGET["transport"] == "stdio":
        command, *arguments = TARGET["command"]
        return StdioTransport(command=command, args=arguments)
    kind = SSETransport if TARGET["transport"] == "sse" else StreamableHttpTransport
    return kind(url=TARGET["url"])


async def elicited(message: str, response_type: Any, params: Any, context: Any) -> Any:
    ASKED.append(message)
    return ElicitResult(action="accept", content={"colour": "green"})


async def cancelled(client: Any) -> bool:
    started = asyncio.Event()

    async def reported(*_: Any) -> None:
        started.set()

    call = asyncio.ensure_future(client.call_tool("wait", {}, progress_handler=reported))
    await asyncio.wait_for(started.wait(), 20)
    call.cancel()
    try:
        await call
    except asyncio.CancelledError:
        return True
    return False


def text(result: Any) -> str:
    return "".join(block.text for block in result.content)


asyncio.run(main())
