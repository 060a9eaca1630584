"""Presets in code: instructions, a model and tools kept under a name, and a question asked with them."""

from __future__ import annotations

import tempfile
from contextlib import aclosing
from pathlib import Path

import anyio

from toolspan_bridge import PresetStore, Toolbox, answer, calculator_server, resolve_model


async def main() -> None:
    """Ask with a preset of ``ann``; a service would name its own users, and a folder that stays."""
    with tempfile.TemporaryDirectory() as folder:
        presets = PresetStore("ann", Path(folder))
        presets.create(
            "Sums",
            instructions="Answer with a number.",
            model="offline/keyword",
            enabled_tools=["calculator"],
        )
        preset = presets.get("Sums")
        provider, model = resolve_model(preset.model)
        servers = [calculator_server(Path(folder))]
        async with aclosing(provider), Toolbox.connect(servers) as toolbox:
            question = preset.question("What is (5 + 3) * 2?", model, toolbox.tools)
            given = await answer(question, provider, toolbox)
        print(f"{preset.name} ({', '.join(preset.enabled_tools)}): {given.content}")


if __name__ == "__main__":
    anyio.run(main)
