"""Answers of a model that was told of its tools in the system prompt: calls stand in the text.

The messages around are Chat Completions, whose streams are tried on their own: here the calls matter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.support import official_types
from tests.support.fake_providers import checks
from tests.support.fake_providers.place import KEY, Place, also, openai_variables
from tests.support.readers import Said, marked

from . import openai
from .openai import BROKEN, FAILURE, NOISE, STOPS, error

_RESULT = re.compile(r'<tool_result name="[^"]*">\n(.*?)\n</tool_result>', re.DOTALL)
__all__ = [
    "BROKEN",
    "FAILURE",
    "NOISE",
    "STOPS",
    "STREAMS",
    "answer",
    "conversation",
    "error",
    "frames",
    "spoken",
]


def written(text: str = "", calls: Any = ()) -> str:
    """``text``, then a block for each of ``calls``: (id, name, arguments)."""
    return "\n\n".join(filter(None, (text, *(_block(*call) for call in calls))))


def answer(text: str = "", calls: Any = (), stop: str = "stop") -> dict[str, Any]:
    return openai.answer(written(text, calls), (), stop)


def frames(text: str = "", calls: Any = (), stop: str = "stop") -> list[bytes]:
    return openai.frames(written(text, calls), (), stop)


def _block(call_id: str | None, name: str, arguments: Any) -> str:
    call = {"name": name, "arguments": arguments} | ({} if call_id is None else {"id": call_id})
    return f"<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>"


def _as_stream(text: str, stop: str = "stop") -> tuple[list[bytes], Any]:
    return openai.frames(text, (), stop), openai.answer(text, (), stop)


_WEATHER = '{"id": "a", "name": "s__weather", "arguments": {"city": "Tromsø ☃"}}'
_TIME = '{"id": "b", "name": "s__time", "parameters": {}}'

STREAMS: dict[str, tuple[list[bytes], Any]] = {
    "two fenced calls": _as_stream(f"First:\n```json\n{_WEATHER}\n```\nthen\n```\n{_TIME}\n```\n"),
    "several calls in an array": _as_stream(f"```tool_call\n[{_WEATHER},\n{_TIME}]\n```"),
    "text around calls": _as_stream(
        f" So.\n<tool_call>{_WEATHER}</tool_call>\n\nAnd <tool_call>{_TIME}</tool_call>."
    ),
    "a call alone": _as_stream('{"name": "s__weather", "arguments": {"city": "Oslo"}}'),
    "a call that is never closed": _as_stream(f"So. <tool_call>{_WEATHER}"),
    "JSON that is no call": _as_stream('{"name": "Oslo", "people": 700000}'),
    "code that is no call": _as_stream(
        f'```python\ncall("<tool_call>{_TIME}</tool_call>")\n```\nand\n```json\n{{"name": "x"}}\n```\nis all.'
    ),
    "a call among thoughts": _as_stream(
        f"<think>I could <tool_call>{_TIME}</tool_call></think> <tool_call>{_WEATHER}</tool_call>"
    ),
    "marks that come to nothing": _as_stream("a < b <tool <tool_ca `` and `<tool_call>` are said so\n``\n<"),
    "a call cut at its limit": _as_stream(f"So. <tool_call>{_WEATHER}</tool_call>", "length"),
}


def spoken(parts: Any, stop: str = "stop") -> tuple[dict[str, Any], list[bytes]]:
    said = [_block(*given) if kind == "call" else given for kind, given in parts if kind != "thought"]
    thoughts = [part for part in parts if part[0] == "thought"]
    return openai.spoken([*thoughts, ("text", "\n\n".join(said))], stop)


def conversation(body: Any) -> Iterator[Said]:
    for turn in openai.conversation(body):
        results = _RESULT.findall(turn[1]) if turn[0] == "user" else []
        yield from map(marked, results) if results else [turn]


_CHECK = also(checks.prompted(KEY), lambda body: official_types.check_openai("chat", body))
PLACE = Place("prompt:openai/gpt-x", openai_variables, _CHECK, _CHECK)
