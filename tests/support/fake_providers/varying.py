"""A model on loopback that never says the same twice: it calls a tool with a number of its own, then tells
what came of it. ``errors`` are the places (from 0) of the requests that it answers with an error."""

from __future__ import annotations

from collections.abc import Collection
from itertools import count
from threading import Lock

from typing_extensions import override

from tests.support.fake_providers import FakeProvider, Received, Sent, anything
from tests.support.wire_peers import wires


class VaryingModel(FakeProvider):
    """Speaks OpenAI's Chat Completions; the tool is ``calculate`` of the server ``toolspan``."""

    def __init__(self, errors: Collection[int] = ()) -> None:
        super().__init__(anything, [])
        self._errors = errors
        self._numbers = count()
        self._lock = Lock()

    @property
    def environment(self) -> dict[str, str]:
        """What leads to it."""
        return {"OPENAI_API_KEY": "sk-varying-secret", "OPENAI_BASE_URL": f"{self.url}/v1"}

    @override
    def respond(self, request: Received) -> Sent:
        with self._lock:
            number = next(self._numbers)
            self.received.append(request)
        if number in self._errors:
            return Sent({"error": {"message": f"Request {number} is bad", "code": "bad"}}, status=400)
        last = request.body["messages"][-1]
        if last["role"] == "user":
            call = (f"call-{number}", "toolspan__calculate", {"expression": f"{number}+1"})
            return Sent(wires("openai").answer("", [call]))
        return Sent(wires("openai").answer(f"Number {number}: {last['content']}"))
