"""Presets: a name for instructions, a model, how much it thinks, and the tools that it may use.

    presets = PresetStore("local")
    preset = presets.create("Research", instructions="Cite your sources.", model="openai/gpt-5.1")
    question = preset.question("What is new?", model, toolbox.tools)

They belong to a user, and are kept in the user's state folder.
"""

from __future__ import annotations

from .calculator import CALCULATOR, calculator_server
from .preset import Preset
from .store import PresetStore
from .tools import DEFAULT_TOOLS, builtin_tools

__all__ = [
    "CALCULATOR",
    "DEFAULT_TOOLS",
    "Preset",
    "PresetStore",
    "builtin_tools",
    "calculator_server",
]
