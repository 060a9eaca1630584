"""The loop of LangChain's agent (LangGraph) over langchain-mcp-adapters, with one session for all calls."""

from __future__ import annotations

import asyncio

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from langchain_openai import ChatOpenAI
from timing import MODEL_URL, TOOL_SERVER, TURNS, timed


async def main() -> None:
    connection = {"transport": "stdio", "command": TOOL_SERVER[0], "args": TOOL_SERVER[1:]}
    client = MultiServerMCPClient({"tools": connection})
    async with client.session("tools") as session:
        agent = create_agent(
            ChatOpenAI(model="m", base_url=MODEL_URL, api_key="none"), await load_mcp_tools(session)
        )

        async def ask(text: str) -> str:
            asked = {"messages": [{"role": "user", "content": text}]}
            found = await agent.ainvoke(asked, {"recursion_limit": 4 * TURNS})
            return str(found["messages"][-1].content)

        await timed(ask)


asyncio.run(main())
