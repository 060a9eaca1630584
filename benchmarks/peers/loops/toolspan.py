"""Our own loop."""

from __future__ import annotations

import anyio
from timing import MODEL_URL, TOOL_SERVER, TURNS, timed

from toolspan_bridge import Question, Toolbox, answer, resolve_model
from toolspan_server.config import ProviderConfig
from toolspan_server.engines.upstreams import ServerSpec


async def main() -> None:
    own = {"bench": ProviderConfig.model_validate({"format": "openai", "base_url": MODEL_URL})}
    provider, model = resolve_model("bench/m", own=own)
    async with Toolbox.connect([ServerSpec("tools", command=tuple(TOOL_SERVER))]) as toolbox:

        async def ask(text: str) -> str:
            question = Question(text, model, max_iterations=TURNS + 2, max_parallel=10)
            return (await answer(question, provider, toolbox)).content

        await timed(ask)


anyio.run(main)
