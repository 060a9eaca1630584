"""All that a client finds on a server: its tools, its resources' contents, its prompts filled in.

Run it: python examples/kinds/look.py --config examples/kinds/resources.yaml
"""

from __future__ import annotations

import sys

import anyio
from mcp import Client, StdioServerParameters, stdio_client


async def main(options: list[str]) -> None:
    """Look at what ``toolspan serve OPTIONS`` serves."""
    server = StdioServerParameters(command="toolspan", args=["serve", *options])
    async with Client(stdio_client(server)) as client:
        has = client.server_capabilities
        if has.tools:
            for tool in (await client.list_tools()).tools:
                print("tool", tool.name, "·", tool.description)
        if has.resources:
            await show_resources(client)
        if has.prompts:
            await show_prompts(client)


async def show_resources(client: Client) -> None:
    """The resources with their content, then the templates."""
    for resource in (await client.list_resources()).resources:
        (content,) = (await client.read_resource(resource.uri)).contents
        print("resource", resource.uri, "·", getattr(content, "text", "(bytes)").strip())
    for template in (await client.list_resource_templates()).resource_templates:
        print("template", template.uri_template)


async def show_prompts(client: Client) -> None:
    """The prompts, each with its arguments' own names for values."""
    for prompt in (await client.list_prompts()).prompts:
        values = {argument.name: argument.name.upper() for argument in prompt.arguments or ()}
        for message in (await client.get_prompt(prompt.name, values)).messages:
            print("prompt", prompt.name, "·", message.role, "·", getattr(message.content, "text", "").strip())


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
