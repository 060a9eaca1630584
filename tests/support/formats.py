"""A format with its provider's answers and rules: what the contract suite runs over."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from toolspan_bridge.formats import get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import (
    Message,
    Reply,
    Request,
    ToolSpec,
)

TOOLS = (
    ToolSpec(
        "s", "weather", "Tells the weather", {"type": "object", "properties": {"city": {"type": "string"}}}
    ),
    ToolSpec("s", "time", "", {"type": "object"}),
)


class Wire:
    """A format, the ``answers`` of its provider, and the ``rules`` that requests are held to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.format = get_format(name)
        module = name.replace("-", "_")
        self.answers: Any = import_module(f"tests.support.wires.{module}")
        self.rules: Any = import_module(f"tests.support.provider_rules.{module}")

    def render(self, *messages: Message, tools: Any = TOOLS, **options: Any) -> dict[str, Any]:
        model = getattr(self.answers, "MODEL", "gemini-3-pro")
        options = {"model": model, "tools": tuple(tools), **options}
        body = self.format.render_request(Request(messages=messages, **options), NameTable.of(tools))
        self.rules.check_request(body)
        return body

    def parse(self, *calls: Any, text: str = "", stop: str = "stop") -> Reply:
        return self.format.parse_reply(self.answers.answer(text, calls, stop))
