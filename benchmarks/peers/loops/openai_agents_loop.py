"""The loop of openai-agents."""

from __future__ import annotations

import asyncio

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStdio
from openai import AsyncOpenAI
from timing import MODEL_URL, TOOL_SERVER, TURNS, timed


async def main() -> None:
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=MODEL_URL, api_key="none")
    params = {"command": TOOL_SERVER[0], "args": TOOL_SERVER[1:]}
    async with MCPServerStdio(params=params, cache_tools_list=True) as server:
        model = OpenAIChatCompletionsModel(model="m", openai_client=client)
        agent = Agent(name="bench", model=model, mcp_servers=[server])

        async def ask(text: str) -> str:
            return str((await Runner.run(agent, text, max_turns=TURNS + 2)).final_output)

        await timed(ask)


asyncio.run(main())
