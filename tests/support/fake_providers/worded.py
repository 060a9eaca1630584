"""A model on loopback that calls its tool only when it is told of it in certain ways."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from typing_extensions import override

from tests.support.wire_peers import wires
from toolspan_bridge.formats.prompt.wordings import WORDINGS

from . import FakeProvider, Received, Sent, anything

AS_TEXT = '<tool_call>{"name": "toolspan__calculate", "arguments": {"expression": "12*7"}}</tool_call>'


class WordedModel(FakeProvider):
    """Chat Completions. It works the sum out with its tool when told of it in a way of ``obeys`` (names of
    wordings, or ``native``), and errs else. ``ways`` are those in which it was asked, one for each request.
    """

    def __init__(self, *obeys: str) -> None:
        super().__init__(anything, [])
        self.obeys: Collection[str] = obeys
        self.ways: list[str] = []

    @override
    def respond(self, request: Received) -> Sent:
        self.received.append(request)
        self.ways.append(way_of(request.body))
        said = request.body["messages"][-1]
        if said["role"] == "tool" or "<tool_result" in said["content"]:
            return _answer("It is 84.")
        if "Thank" in said["content"]:
            return _answer("Welcome!")
        if self.ways[-1] not in self.obeys:
            return _answer("It is 83.")
        if self.ways[-1] != "native":
            return _answer(AS_TEXT)
        name = request.body["tools"][0]["function"]["name"]
        return _answer("", [("c1", name, {"expression": "12*7"})])


def way_of(body: Any) -> str:
    """In which way a request tells of its tools."""
    if body.get("tools"):
        return "native"
    system = body["messages"][0]["content"]
    told = {name: len(each.before) for name, each in WORDINGS.items() if each.before in system}
    return max(told, key=told.__getitem__)


def _answer(text: str, calls: Any = ()) -> Sent:
    return Sent(wires("openai").answer(text, calls))
