"""``/api/examples``: questions to try."""

from __future__ import annotations

from ..endpoint import Answer, Call, Endpoint

EXAMPLES = (
    "What's the weather in Paris?",
    "Calculate 15% tip on $45",
    "What's 2+2?",
    "Search for Python decorators in the docs",
)
"""A call of a tool, the calculator, a question that may need none, and a search of documents."""


class Examples(Answer):
    """Questions that a person may try."""

    examples: list[str]


async def shown(call: Call) -> Examples:
    """The config's examples, else the usual ones."""
    return Examples(examples=list(call.app.config.examples or EXAMPLES))


ENDPOINTS = (
    Endpoint("GET", "/api/examples", "Questions to try.", shown, "tools", audience="shared", answer=Examples),
)
