"""A question answered in code: a config's tools over MCP, a provider, the loop, and its events."""

from __future__ import annotations

import tempfile
from contextlib import aclosing
from pathlib import Path

import anyio

from toolspan_bridge import (
    End,
    Question,
    Toolbox,
    ToolCallFinished,
    resolve_model,
    run,
    servers_of,
)
from toolspan_server import load_config

CONFIG = """
name: sums
tools:
  registry:
    - name: calculate
      description: Evaluate a mathematical expression
      parameters:
        type: object
        properties: {expression: {type: string, description: Math expression to evaluate}}
        required: [expression]
      implementation: {type: builtin, handler: math_eval}
"""


async def main() -> None:
    """Ask ``offline/keyword``; any ``provider/model`` works the same way."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "toolspan.yaml"
        path.write_text(CONFIG)
        provider, model = resolve_model("offline/keyword")
        async with aclosing(provider), Toolbox.connect(servers_of(load_config(path))) as toolbox:
            async for event in run(Question("What is 12 times 7?", model), provider, toolbox):
                if isinstance(event, ToolCallFinished):
                    print(event.tool, dict(event.outcome.result))
                elif isinstance(event, End):
                    print(event.answer.content)


if __name__ == "__main__":
    anyio.run(main)
