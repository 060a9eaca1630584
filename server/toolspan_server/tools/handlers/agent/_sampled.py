"""A sub-agent whose model is the client's: a loop of MCP's sampling with tools.

Where the client comes again with each answer (MCP 2026-07-28, basic/patterns/mrtr), the loop runs again from
its start: the answers are there at once, and so are the results of calls, kept in the call's memory.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ....calls.client import Question
from ....calls.content import Content
from ....calls.context import Context
from ....common.json_values import shortened
from ....engines.subagent_limits import SubagentLimits
from ....errors import ToolFailure
from ._sampled_results import MOST_CALLS, result_block, tool_uses

_MEMORY = "dev.toolspan/task"
_META = "dev.toolspan/messages"
_ANSWER_TOKENS = 8_192
_MOST_JSON = 180_000
"""The most characters of JSON that the messages have: what is asked, and a state, have at most 262,144."""
_LEAST_ROOM = 10_000
_LONGEST_RESULT = 20_000
_CHARACTERS_PER_TOKEN = 4
_TOO_DEEP = (
    "A sub-agent of a client's model starts none of its own, whatever limits.subagents.depth allows: do it "
    "yourself with your tools, or answer with what is missing."
)
_SYSTEM = (
    "You are a sub-agent: another agent gave you a task, and reads nothing of you but your last message. "
    "Work on your own until the task is done or cannot be done. Then answer with what was asked for, "
    "complete and exact."
)


class SampledAgent:
    """The sub-agent of a call of ``Task`` with ``arguments``, within ``limits``. ``tools`` are those that it
    may call, as ``sampled_tools`` lists them."""

    def __init__(
        self,
        arguments: Mapping[str, Any],
        context: Context,
        limits: SubagentLimits,
        tools: Sequence[Mapping[str, Any]],
    ) -> None:
        self._agent: str = arguments["description"]
        self._context = context
        self._limits = limits
        self._tools = list(tools)
        self._names = {str(tool["name"]) for tool in tools}
        self._messages: list[dict[str, Any]] = [_message("user", [_text(arguments["prompt"])])]
        self._tokens = 0
        self._calls = 0
        subject = json.dumps(dict(arguments), sort_keys=True)
        self._key = f"task-{hashlib.sha256(subject.encode()).hexdigest()[:16]}"
        new = {"ends": time.time() + limits.seconds, "results": dict[str, Any]()}
        self._memory: dict[str, Any] = context.client.memory.setdefault(f"{_MEMORY}/{self._key}", new)

    async def run(self) -> Content:
        """``{"answer", "calls", "iterations", "stopped"?}``; the messages are in the result's ``meta``.

        Raises ``ToolFailure`` when the client cannot be asked, or refuses, and ``InputRequired``.
        """
        if not self._context.client.accepts("sampling.tools"):
            raise ToolFailure(
                "A sub-agent needs a model, and the client does not support sampling with tools "
                "(sampling.tools of MCP)",
                error_code="client_cannot_answer",
                user_action="Do the task yourself, or use a client that supports it.",
            )
        iteration = 0
        while True:
            stopped = self._stopped(iteration)
            content = await self._answer(iteration, closing=bool(stopped))
            uses = tool_uses(content)
            if stopped or not uses:
                return self._result(content, iteration, stopped)
            iteration += 1
            await self._perform(uses, iteration)

    async def _answer(self, iteration: int, *, closing: bool) -> list[dict[str, Any]]:
        """The content of the model's next message; without tools where it is the ``closing`` one."""
        key = f"{self._key}-{iteration}"
        params: dict[str, Any] = {
            "messages": self._messages,
            "systemPrompt": _SYSTEM,
            "maxTokens": _ANSWER_TOKENS,
            "tools": self._tools,
            "toolChoice": {"mode": "none" if closing else "auto"},
        }
        self._count(self._messages)
        answers = await self._context.client.ask({key: Question("sampling", params)})
        given: Any = answers[key].get("content")
        blocks: list[Any] = [given] if isinstance(given, dict) else given
        content = [cast("dict[str, Any]", each) for each in blocks if isinstance(each, dict)]
        self._count(content)
        self._messages.append(_message("assistant", content))
        return content

    async def _perform(self, uses: Sequence[Mapping[str, Any]], iteration: int) -> None:
        """Make the calls, one after the other, and append their results; those that were made are kept."""
        kept: dict[str, Any] = self._memory["results"]
        room = _MOST_JSON - len(json.dumps(self._messages)) - _LEAST_ROOM
        each_most = max(200, min(_LONGEST_RESULT, room // len(uses)))
        results: list[dict[str, Any]] = []
        for number, use in enumerate(uses):
            place = f"{iteration}.{number}"
            if place not in kept and number < MOST_CALLS:
                kept[place] = await self._called(use, each_most)
            elif place not in kept:
                kept[place] = result_block(use, f"Only {MOST_CALLS} calls of a turn are made.", failed=True)
            self._calls += number < MOST_CALLS
            results.append(kept[place])
        self._messages.append(_message("user", results))

    async def _called(self, use: Mapping[str, Any], most: int) -> dict[str, Any]:
        name = str(use.get("name"))
        arguments: Any = use.get("input")
        if name == self._context.tool_name:
            return result_block(use, _TOO_DEEP, failed=True)
        if name not in self._names or not isinstance(arguments, dict):
            known = ", ".join(sorted(self._names))
            text = f"No tool {shortened(name, 100)!r} takes that input: give an object to one of {known}."
            return result_block(use, text, failed=True)
        if self._calls >= self._limits.calls:
            most_calls = f"limits.subagents.calls ({self._limits.calls:,}) was reached"
            text = f"No further call is made, since {most_calls}: answer with what you have."
            return result_block(use, text, failed=True)
        await self._context.client.progress(self._calls + 1, None, f"{self._agent}: {name}")
        result = await self._context.call(name, cast("dict[str, Any]", arguments))
        return result_block(use, result, most)

    def _stopped(self, iteration: int) -> str:
        """The limit that allows no further turn with tools; empty where none does."""
        limits = self._limits
        used = {"iterations": iteration, "calls": self._calls, "tokens": self._tokens}
        for name, count in used.items():
            most = getattr(limits, name)
            if count >= most:
                return f"limits.subagents.{name} ({most:,}) was reached"
        if time.time() >= self._memory["ends"]:
            return f"limits.subagents.seconds ({limits.seconds:g}) was reached"
        if len(json.dumps(self._messages)) > _MOST_JSON - 2 * _LEAST_ROOM:
            return f"its messages have {_MOST_JSON:,} characters, which is the most"
        return ""

    def _result(self, content: Sequence[Mapping[str, Any]], iterations: int, stopped: str) -> Content:
        texts = [each.get("text") for each in content if each.get("type") == "text"]
        answer = "\n".join(text for text in texts if isinstance(text, str))
        result: dict[str, Any] = {"answer": answer, "calls": self._calls, "iterations": iterations}
        if stopped or not answer:
            result["stopped"] = stopped or "its model gave no answer"
        shown = {"type": "text", "text": json.dumps(result, ensure_ascii=False)}
        return Content((shown,), structured=result, meta={_META: self._messages})

    def _count(self, value: Any) -> None:
        """Count about as many tokens as ``value`` has: clients do not say how many there were."""
        self._tokens += len(json.dumps(value)) // _CHARACTERS_PER_TOKEN


def _message(role: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": role, "content": content}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
