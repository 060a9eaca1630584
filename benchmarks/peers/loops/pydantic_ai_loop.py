"""The loop of pydantic-ai."""

from __future__ import annotations

import asyncio

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits
from timing import MODEL_URL, TOOL_SERVER, TURNS, timed


async def main() -> None:
    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=MODEL_URL, api_key="none"))
    toolset = MCPToolset(StdioTransport(command=TOOL_SERVER[0], args=TOOL_SERVER[1:]))
    agent = Agent(model, toolsets=[toolset])
    async with agent:

        async def ask(text: str) -> str:
            result = await agent.run(text, usage_limits=UsageLimits(request_limit=TURNS + 2))
            return result.output

        await timed(ask)


asyncio.run(main())
