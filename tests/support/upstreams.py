"""Servers with upstreams, and clients that a call can talk to."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from tests.support.waiting import BOUND_S
from toolspan_server import load_config, running
from toolspan_server.calls.client import Ability, Capability, InputRequired, Question
from toolspan_server.live.runtime import Runtime

SERVERS = Path(__file__).parent / "mcp_servers"


def raw(mood: str = "good", **more: Any) -> dict[str, Any]:
    """The upstream of ``raw.py``, in a mood."""
    return {"command": sys.executable, "args": [str(SERVERS / "raw.py"), mood], **more}


def talker(era: str, mood: str = "", **more: Any) -> dict[str, Any]:
    """The upstream of ``talker.py``, of an era (``old``, ``new``)."""
    return {"command": sys.executable, "args": [str(SERVERS / "talker.py"), era, mood], **more}


def flooder(what: str, *more: str) -> dict[str, Any]:
    """The upstream of ``flooder.py``, which floods once its tool ``flood`` is called."""
    return {"command": sys.executable, "args": [str(SERVERS / "flooder.py"), what, *more]}


def config(folder: Path, upstreams: Mapping[str, Any], *sources: Mapping[str, Any], **tools: Any) -> Path:
    """A config with ``upstreams``, and all of their tools unless ``sources`` say which."""
    listed = sources or [{"upstream": name} for name in upstreams]
    document = {
        "services": {"upstreams": upstreams},
        "tools": {"sources": [{"type": "mcp", **source} for source in listed], **tools},
        "limits": {"upstream_connect_seconds": BOUND_S},
    }
    path = folder / "toolspan.json"
    path.write_text(json.dumps(document))
    return path


@asynccontextmanager
async def served(
    folder: Path, upstreams: Mapping[str, Any], *sources: Any, **tools: Any
) -> AsyncIterator[Runtime]:
    """The running server of such a config, once its sources have told their tools."""
    with anyio.fail_after(BOUND_S):
        async with running(load_config(config(folder, upstreams, *sources, **tools))) as runtime:
            await runtime.settled()
            yield runtime


async def until(condition: Any) -> None:
    """Return once ``condition`` holds; the caller bounds the time."""
    while not condition():  # noqa: ASYNC110 - what is waited for happens in another process
        await anyio.sleep(0.01)


class FakeClient:
    """A client that waits with its call while it is asked; ``asked`` and ``heard`` note what reaches it."""

    def __init__(self, answers: Mapping[Ability, Any] | None = None) -> None:
        self.answers = dict(answers or {})
        self.memory: MutableMapping[str, Any] = {}
        self.asked: list[Question] = []
        self.heard: list[tuple[Any, ...]] = []

    def accepts(self, capability: Capability) -> bool:
        return capability in self.answers

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, Any]:
        self.asked += questions.values()
        return {key: self.answers[question.ability] for key, question in questions.items()}

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self.heard.append(("progress", progress, total, message))

    async def log(self, level: str, data: Any, logger: str | None = None) -> None:
        self.heard.append(("log", level, data))

    async def release(self) -> None:
        raise NotImplementedError


class ReturningClient(FakeClient):
    """A client of the 2026 era: it makes its call again with the answers. Its memory goes through JSON."""

    def __init__(self, answers: Mapping[Ability, Any] | None = None) -> None:
        super().__init__(answers)
        self.given: dict[str, Any] = {}

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, Any]:
        missing = {key: question for key, question in questions.items() if key not in self.given}
        if missing:
            raise InputRequired(missing)
        return {key: self.given[key] for key in questions}

    def come_back(self, needed: InputRequired) -> ReturningClient:
        """The client of the next round."""
        client = ReturningClient(self.answers)
        client.memory = json.loads(json.dumps(dict(self.memory)))
        client.asked = [*self.asked, *needed.questions.values()]
        answers = {key: self.answers[question.ability] for key, question in needed.questions.items()}
        client.given = {**self.given, **answers}
        return client
