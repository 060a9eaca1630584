"""What every way of making the trials works with: the suite, the tools, the limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CONFIG = Path(__file__).parents[1] / "peers" / "toolspan.yaml"
MODEL = "openai-chat/gpt-4o"
SUITE: dict[str, Any] = {
    "name": "weather",
    "scenarios": [
        {
            "name": f"question {number}",
            "query": f"What is the weather in Paris today, asked for the {number}th time?",
            "expect": {"no_calls": True, "answer": {"contains": "sunny"}},
        }
        for number in range(20)
    ],
}


def ideal(trials: int, at_once: int, seconds: float) -> float:
    """The least seconds that so many trials can take: the model answers each after ``seconds``."""
    return -(-trials // at_once) * seconds
