"""LangChain's models of OpenAI and Anthropic use the gateway at argv[1]; run in an environment of its own.

Prints one JSON object: of each model its texts, streams, calls, the turns of an agent with a tool of its own,
structured answers, and the exception for a model that does not exist.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

URL = sys.argv[1]
MODEL = "scripted/script.yaml"


@tool
def roll_dice(sides: int) -> str:
    """Roll a die with so many sides."""
    return f"rolled {sides - 2}"


class Dice(BaseModel):
    """A die."""

    sides: int


def models(name: str) -> dict[str, Any]:
    """The same model by each of LangChain's ways to it."""
    openai: dict[str, Any] = {"model": name, "base_url": f"{URL}/v1", "api_key": "none", "max_retries": 0}
    return {
        "chat": ChatOpenAI(**openai),
        "responses": ChatOpenAI(**openai, use_responses_api=True),
        "stored responses": ChatOpenAI(**openai, use_responses_api=True, use_previous_response_id=True),
        "messages": ChatAnthropic(model=name, base_url=URL, api_key="none", max_retries=0),
    }


def asked(model: Any) -> dict[str, Any]:
    """What comes of questions to ``model``."""
    bound = model.bind_tools([roll_dice]).invoke("dice and weather")
    agent = create_agent(model, [roll_dice])
    first = agent.invoke({"messages": [("user", "dice and weather")]})["messages"]
    second = agent.invoke({"messages": [*first, ("user", "And the weather?")]})["messages"]
    return {
        "text": model.invoke("weather?").text,
        "stream": "".join(chunk.text for chunk in model.stream("weather?")),
        "bound": [[call["name"], call["args"]] for call in bound.tool_calls],
        "tokens": bound.usage_metadata["total_tokens"],
        "agent": [[message.type, message.text] for message in second],
        "schema": model.with_structured_output(Dice, method="json_schema").invoke("as an object").sides,
        "calling": model.with_structured_output(Dice, method="function_calling").invoke("as a call").sides,
    }


async def streamed(model: Any) -> list[str]:
    """The texts of an agent's stream that are not empty."""
    agent = create_agent(model, [roll_dice])
    stream = agent.astream({"messages": [("user", "dice and weather")]}, stream_mode="messages")
    return [message.text async for message, _ in stream if message.text]


def refused(model: Any) -> str:
    """The name of the exception for a question to ``model``."""
    try:
        model.invoke("hi")
    except Exception as error:
        return type(error).__name__
    return ""


async def all_streamed() -> dict[str, list[str]]:
    """The stream of each model's agent."""
    return {way: await streamed(model) for way, model in models(MODEL).items()}


def main() -> None:
    """Ask by every way."""
    found = {way: asked(model) for way, model in models(MODEL).items()}
    for way, texts in asyncio.run(all_streamed()).items():
        found[way]["streamed agent"] = texts
    for way, model in models("nobody").items():
        found[way]["refused"] = refused(model)
    print(json.dumps(found))


main()
