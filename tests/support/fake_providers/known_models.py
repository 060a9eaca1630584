"""Models on loopback that each behave in one way, whose figures can be worked out by hand.

They are asked the suite of ``examples/scripted_models``, over Chat Completions, streamed or not.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from typing_extensions import override

from tests.support.wire_peers import wires

from . import FakeProvider, Received, Sent, anything

WEATHER, PRODUCT, GREETING = "weather", "product", "greeting"
_CALLS = {
    WEATHER: ("get_weather", {"location": "Paris"}),
    PRODUCT: ("calculate", {"expression": "12 * 7"}),
}
_ANSWERS = {WEATHER: "It is 22 °C in Paris.", PRODUCT: "It is 84.", GREETING: "Good morning to you!"}
_FAULTY_TIME = {WEATHER: 2, PRODUCT: 3, GREETING: 4}
_EVERY = 5


class KnownModels(FakeProvider):
    """``perfect`` (and ``gpt-4o``, whose price is known), ``never-calls``, ``wrong-tool``, ``flaky``,
    ``prints-calls``, ``slow``, ``failing`` and ``rate-limited``: each is what a request's ``model`` names."""

    def __init__(self) -> None:
        super().__init__(anything, [])
        self._lock = threading.Lock()
        self._asked: Counter[tuple[str, str]] = Counter()
        self.statuses: Counter[tuple[str, int]] = Counter()
        """How often each model answered with each HTTP status."""

    @override
    def respond(self, request: Received) -> Sent:
        with self._lock:
            self.received.append(request)
            sent = self._answer(request.body)
            self.statuses[request.body["model"], sent.status] += 1
            return sent

    def _answer(self, body: Any) -> Sent:
        model, said = body["model"], body["messages"]
        question, first = _question(said), _is_asked(said[-1])
        if first:
            self._asked[model, question] += 1
        if model == "failing":
            return _error("boom", 500)
        if model == "rate-limited" and first and self._asked[model, question] == 1:
            return _error("too many requests", 429, {"retry-after": "1"})
        if model == "slow":
            return Sent(frames=wires("openai").frames("Let me think")[:2], stall=True)
        text, calls = _behaviour(model)(question, first, self._asked[model, question] - 1)
        named = [(f"c{n}", _offered(body, name), given) for n, (name, given) in enumerate(calls)]
        if model == "prints-calls" and named:
            _, name, arguments = named[0]
            text, named = (
                f'<tool_call>{{"name": "{name}", "arguments": {json.dumps(arguments)}}}</tool_call>',
                [],
            )
        wire = wires("openai")
        return Sent(frames=wire.frames(text, named)) if body.get("stream") else Sent(wire.answer(text, named))


_Turn = tuple[str, list[tuple[str, dict[str, str]]]]


def _perfect(question: str, first: bool, asked: int) -> _Turn:
    call = _CALLS.get(question)
    return ("", [call]) if first and call else (_ANSWERS[question], [])


def _never(question: str, first: bool, asked: int) -> _Turn:
    return _ANSWERS[question], []


def _wrong(question: str, first: bool, asked: int) -> _Turn:
    name = "calculate" if question == WEATHER else "get_weather"
    given = {"expression": "20 + 2"} if question == WEATHER else {"location": "Paris"}
    return ("", [(name, given)]) if first else (_ANSWERS[question], [])


def _flaky(question: str, first: bool, asked: int) -> _Turn:
    """Faulty once in five times: it asks for another city, works the product out by itself, or calls."""
    if not first or asked % _EVERY != _FAULTY_TIME[question]:
        return _perfect(question, first, asked)
    if question == PRODUCT:
        return _ANSWERS[question], []
    return "", [("get_weather", {"location": "Rome"})]


def _behaviour(model: str) -> Callable[[str, bool, int], _Turn]:
    return {"never-calls": _never, "wrong-tool": _wrong, "flaky": _flaky}.get(model, _perfect)


def _is_asked(message: Any) -> bool:
    """Whether it is a question, and not the result of a call that was written as text."""
    return message["role"] == "user" and not message["content"].startswith("The result of ")


def _question(messages: Any) -> str:
    text = next(each["content"] for each in reversed(messages) if _is_asked(each))
    return WEATHER if "weather" in text else PRODUCT if "12 times 7" in text else GREETING


def _offered(body: Any, name: str) -> str:
    """The wire name of the tool ``name``."""
    names = [tool["function"]["name"] for tool in body["tools"]]
    return next(each for each in names if each.endswith(name))


def _error(message: str, status: int, headers: dict[str, str] | None = None) -> Sent:
    return Sent({"error": {"message": message, "type": "error"}}, status, headers or {})
