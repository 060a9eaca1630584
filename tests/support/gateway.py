"""The gateway on a socket of its own, with scripted models, for the clients that others wrote."""

from __future__ import annotations

import socket
import threading
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request

from tests.support.local_tools import Performed
from tests.support.waiting import eventually
from toolspan_bridge import Conversation, Provider, Question, Toolbox
from toolspan_bridge.approvals import Unattended
from toolspan_bridge.messages import User
from toolspan_bridge.providers.catalog.scripted import Scripted, Turn
from toolspan_bridge.web.gateway.serving.caller import Caller
from toolspan_bridge.web.gateway.serving.choosing import Choice
from toolspan_bridge.web.gateway.serving.exchange import Admission, Answering
from toolspan_bridge.web.gateway.serving.models import ListedModel
from toolspan_bridge.web.gateway.serving.routes import gateway_routes
from toolspan_bridge.web.gateway.serving.running import Prepared, Runs

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""An image of one point, as base64."""

WEATHER: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
"""The parameters of the tool that clients bring."""


@dataclass
class Gateway:
    """A gateway at ``url`` whose one model is ``provider``; ``ours`` are the tools that are run in it."""

    url: str
    provider: Provider
    ours: Sequence[Performed]
    runs: Runs
    choices: list[Choice] = field(default_factory=list[Choice])

    @property
    def requests(self) -> list[Any]:
        """What the scripted model was asked."""
        assert isinstance(self.provider, Scripted)
        return self.provider.requests


@contextmanager
def gateway(
    turns: Sequence[Turn] | Provider,
    *ours: Performed,
    admission: Admission | None = None,
    question: Mapping[str, Any] | None = None,
    runs: Mapping[str, Any] | None = None,
    ping_seconds: float = 10.0,
) -> Generator[Gateway]:
    """A gateway with a model that says ``turns`` and with the tools ``ours``; ``question`` are further
    settings of its questions, ``runs`` those of its runs. The principal is what a request's token says."""
    provider = Scripted(turns) if isinstance(turns, Sequence) else turns
    toolbox, choices = Toolbox(()).with_local(ours), list[Choice]()

    @asynccontextmanager
    async def prepare(
        asked: User, choice: Choice, conversation: Conversation, caller: Caller
    ) -> AsyncGenerator[Prepared]:
        del asked, conversation, caller
        choices.append(choice)
        own = Question("", choice.model.rpartition("/")[2] or "recorded", **(question or {}))
        yield Prepared(own, provider, toolbox, Unattended())

    async def models(request: Request) -> Sequence[ListedModel]:
        del request
        return [ListedModel("scripted/recorded", "The recorded one", "scripted"), ListedModel("best")]

    def who(request: Request) -> Caller:
        return Caller(request.headers.get("authorization") or request.headers.get("x-api-key") or "")

    made = Runs(prepare, **(runs or {}))
    answering = Answering(made, who, admission or Admission(), ping_seconds)

    @asynccontextmanager
    async def closing(_: Starlette) -> AsyncGenerator[None]:
        yield
        await provider.aclose()

    app = Starlette(routes=gateway_routes(answering, models), lifespan=closing)
    with served(app) as url:
        yield Gateway(url, provider, ours, made, choices)


@contextmanager
def served(app: Any) -> Generator[str]:
    """``app`` on a free port of loopback, in a thread of its own; its URL."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on"))
    thread = threading.Thread(target=server.run, args=([sock],), daemon=True)
    thread.start()
    try:
        assert eventually(lambda: server.started)
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        sock.close()
