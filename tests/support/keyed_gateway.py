"""A gateway as a process, with virtual keys, and providers that stand on loopback."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from typing_extensions import override

from tests.support.fake_providers import FakeProvider, Received, Sent, anything
from tests.support.waiting import eventually
from tests.support.web_app import WebApp, web_app
from tests.support.wire_peers import streamed, wires
from toolspan_bridge.web.keys import KeyLimits, KeyStore
from toolspan_bridge.web.keys.spending import Spent

OPENAI = wires("openai")
MODEL = "openai-chat/gpt-4o"
"""A model with a price, which the provider on loopback answers."""
TURN_USD = 0.00009375
"""What one answer of that provider costs: 8 tokens read, 3 from its cache, 7 written."""
WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "implementation": {"type": "mock", "mock_response": {"weather": "rain"}},
}


def said(text: str) -> Sent:
    """A whole answer."""
    return Sent(OPENAI.answer(text))


def calling(tool: str, **arguments: Any) -> Sent:
    """An answer that calls a tool."""
    return Sent(OPENAI.answer("", [("c1", tool, arguments)]))


def pieces(text: str, **ending: Any) -> Sent:
    """An answer that comes in pieces."""
    return streamed("openai", *OPENAI.frames(text), **ending)


def new_key(folder: Path, name: str, expires: float | None = None, **limits: Any) -> str:
    """A new key of the config in ``folder``."""
    with closing(KeyStore(folder / ".toolspan")) as store:
        return store.create(name, KeyLimits(**limits), expires)[1]


def spent(folder: Path, name: str) -> Spent:
    """What was spent with the key."""
    with closing(KeyStore(folder / ".toolspan")) as store:
        return store.ledger.spent(store.get(name))


class Provider(FakeProvider):
    """One that also lists its models: none."""

    @override
    def respond(self, request: Received) -> Sent:
        return Sent({"object": "list", "data": []}) if request.method == "GET" else super().respond(request)


@contextmanager
def keyed_gateway(folder: Path, replies: Sequence[Sent] = (), **config: Any) -> Generator[WebApp]:
    """The gateway of ``folder``, whose ``MODEL`` gives ``replies``, each once."""
    whole: dict[str, Any] = {"version": 1, "tools": {"registry": [WEATHER]}, **config}
    with Provider(anything, replies) as provider:
        known = {"OPENAI_BASE_URL": f"{provider.url}/v1", "OPENAI_API_KEY": "sk-of-the-provider"}
        with web_app(folder, config=json.dumps(whole), **known) as app:
            yield app


@contextmanager
def deployed(
    folder: Path, replies: dict[str, list[Sent]], larger: Sequence[str] = (), **model: Any
) -> Generator[tuple[WebApp, dict[str, FakeProvider]]]:
    """A gateway whose ``models/fast`` has a deployment at each provider of ``replies``, in this order."""
    with ExitStack() as stack:
        fakes = {name: stack.enter_context(FakeProvider(anything, each)) for name, each in replies.items()}
        config = {
            "version": 1,
            "providers": {name: {"base_url": fake.url} for name, fake in fakes.items()},
            "models": {
                "fast": {
                    "deployments": [{"model": f"{name}/m"} for name in fakes if name not in larger],
                    "larger_context": [{"model": f"{name}/m"} for name in larger],
                    "retries": 0,
                    **model,
                }
            },
        }
        yield stack.enter_context(web_app(folder, config=json.dumps(config))), fakes


def recorded(app: WebApp, most: int) -> list[dict[str, Any]]:
    """The entries of the activity log, the latest first, once there are so many."""
    found: list[dict[str, Any]] = []

    def are_there() -> bool:
        found[:] = app.ask("GET", "/api/activity").json["activity"]
        return len(found) >= most

    assert eventually(are_there), found
    return found
