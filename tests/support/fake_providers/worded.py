"""A model on loopback that calls its tool only when it is told of it in certain ways."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from typing_extensions import override

from tests.support.wire_peers import wires
from toolspan_bridge.formats.prompt.renderings import RENDERINGS
from toolspan_bridge.formats.prompt.wordings import WORDINGS

from . import FakeProvider, Received, Sent, anything

AS_TEXT = (
    "I work it out. "
    '<tool_call>{"name": "toolspan__calculate", "arguments": {"expression": "12*7"}}</tool_call>'
)


class ForgetfulModel(FakeProvider):
    """Chat Completions. It writes each call as text, and works a further sum out only where it finds its
    earlier call as in a rendering of ``obeys``. ``renderings`` are those of the requests that had one."""

    def __init__(self, *obeys: str) -> None:
        super().__init__(anything, [])
        self.obeys: Collection[str] = obeys
        self.renderings: list[str] = []

    @override
    def respond(self, request: Received) -> Sent:
        self.received.append(request)
        said = request.body["messages"][-1]
        if said["role"] == "tool" or "The result of" in said["content"] or "<tool_result" in said["content"]:
            return _answer("It is 84.")
        if (rendering := rendering_of(request.body)) is not None:
            self.renderings.append(rendering)
            return _answer(AS_TEXT if rendering in self.obeys else "It is 83.")
        return _answer(AS_TEXT)


def rendering_of(body: Any) -> str | None:
    """In which rendering the first call that was written as text is told; ``None`` where there is none."""
    found = [
        place
        for place, message in enumerate(body["messages"])
        if message["role"] == "assistant"
        and (message.get("tool_calls") or "<tool_call>" in message["content"])
    ]
    if not body.get("tools") or not found:
        return None
    call, result = (body["messages"][found[0] + offset] for offset in (0, 1))
    text = call.get("content") or ""
    tells = "Now answer my question." in str(result["content"])
    kind = "written" if "<tool_call>" in text else "cut" if text else "none"
    return next(
        name
        for name, each in RENDERINGS.items()
        if (each.text, each.calls, each.tells) == (kind, "tool_calls" in call, tells)
    )


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
