"""Models on loopback that are as skilled as a test says: an answer is a function of what is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typing_extensions import override

from tests.support.cli import Ran, toolspan
from tests.support.fake_providers import FakeProvider, Received, Sent, anything
from tests.support.wire_peers import wires

__all__ = ["Asked", "SkilledModels", "calls", "says"]


@dataclass(frozen=True)
class Asked:
    """A request, over the wire of OpenAI's chat completions: ``tools`` are the names of those that are
    offered natively, in their order; ``answered``: a tool's result is the last message; ``body`` is all of
    it."""

    model: str
    question: str
    tools: Sequence[str]
    answered: bool
    body: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def prompted(self) -> bool:
        """Whether the tools are told of in the prompt."""
        return not self.tools


Skill = Callable[[Asked], Sent]


class SkilledModels(FakeProvider):
    """A provider, ``openai-chat``, that answers by ``skill`` and lists the models ``names``."""

    def __init__(self, skill: Skill, names: Sequence[str] = ("gpt-4o", "gpt-4o-mini")) -> None:
        super().__init__(anything, [])
        self._skill = skill
        self._names = names

    @override
    def respond(self, request: Received) -> Sent:
        if request.method == "GET":
            return Sent({"object": "list", "data": [{"id": name, "object": "model"} for name in self._names]})
        self.received.append(request)
        return self._skill(asked(request.body))

    def run(self, folder: Path, *words: str, stdin: str = "", **environment: str) -> Ran:
        """``toolspan WORDS`` in ``folder``, where ``openai-chat`` is this provider."""
        held = {"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": f"{self.url}/v1", **environment}
        return toolspan(*words, cwd=folder, stdin=stdin, **held)

    @property
    def last(self) -> Asked:
        """The last request."""
        return asked(self.received[-1].body)


def asked(body: Mapping[str, Any]) -> Asked:
    """What the ``body`` of a request asks."""
    messages: list[Mapping[str, Any]] = [each for each in body["messages"] if each["role"] != "system"]
    questions = [each["content"] for each in messages if each["role"] == "user"]
    tools = [tool["function"]["name"] for tool in body.get("tools", ())]
    after_call = len(messages) > 1 and messages[-2]["role"] == "assistant"
    is_result = messages[-1]["role"] == "tool" or (after_call and "tool_call" in str(messages[-2]["content"]))
    return Asked(body["model"], str(questions[-1]), tools, is_result, body)


def says(text: str) -> Sent:
    """An answer in words."""
    return Sent(wires("openai").answer(text))


def calls(asked: Asked, tool: str, arguments: Mapping[str, Any]) -> Sent:
    """A call of ``tool``, in the way in which tools are told of; or the end, where its result is there."""
    if asked.answered:
        return says("Done.")
    if asked.prompted:
        return says(f"<tool_call>\n{json.dumps({'name': tool, 'arguments': arguments})}\n</tool_call>")
    on_wire = next((name for name in asked.tools if name.endswith(tool)), tool)
    return Sent(wires("openai").answer(calls=[("call_1", on_wire, dict(arguments))]))
