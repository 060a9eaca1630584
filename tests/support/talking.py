"""Tools that talk to their client, written as functions in a test, behind the real endpoint."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from typing_extensions import override

from tests.support.asgi import Client, Reply
from tests.support.served import INITIALIZED
from tests.support.waiting import BOUND_S
from toolspan_server.calls.context import Context
from toolspan_server.config import Config
from toolspan_server.http_server.guard import Access
from toolspan_server.live.runtime import Runtime, running
from toolspan_server.parts.environment import Environment
from toolspan_server.parts.kind import Kind, KindConfig
from toolspan_server.protocol.http.app import Application

Talk = Callable[[Mapping[str, Any], Context], Awaitable[Any]]
TASKS = "io.modelcontextprotocol/tasks"
EVERYTHING = {
    "elicitation": {},
    "sampling": {},
    "roots": {},
    "extensions": {TASKS: {}},
}
_ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@dataclass
class _Scripted:
    script: Talk
    talks: bool = True

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        return await self.script(arguments, context)


class _ScriptedConfig(KindConfig):
    """A kind whose live part is a function of the test's."""

    script: Any

    @override
    def build(self, environment: Environment) -> Kind:
        return _Scripted(self.script)


def tool(name: str, script: Talk, **more: Any) -> dict[str, Any]:
    """An entry of ``tools.registry`` that runs ``script``."""
    implementation = _ScriptedConfig.model_validate({"type": "scripted"}).model_copy(
        update={"script": script}
    )
    schema = {"type": "object", "additionalProperties": True}
    return {
        "name": name,
        "description": f"The tool {name}.",
        "parameters": schema,
        "implementation": implementation,
        **more,
    }


@dataclass
class Talking:
    """A server in this process, and ways to speak to it as a client of either era."""

    runtime: Runtime
    application: Application
    client: Client
    path: str = "/mcp"

    async def modern(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        capabilities: Mapping[str, Any] = EVERYTHING,
        meta: Mapping[str, Any] | None = None,
        request_id: int | str = 1,
        headers: Mapping[str, str] | None = None,
        reply: Reply | None = None,
        gone: anyio.Event | None = None,
    ) -> Reply:
        """The answer to a request of the modern era."""
        given = dict(params or {})
        named = given.get("name") or given.get("taskId")
        envelope = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            **(meta or {}),
        }
        body = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**given, "_meta": envelope}}
        lines = {
            **_ACCEPT,
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": method,
            **({"mcp-name": named} if named else {}),
            **(headers or {}),
        }
        sent = json.dumps(body).encode()
        return await self.client.ask("POST", sent, lines, path=self.path, reply=reply, gone=gone)

    async def call(self, name: str, **more: Any) -> dict[str, Any]:
        """The last message in answer to a modern ``tools/call``; ``params`` are more of its parameters."""
        params = {"name": name, "arguments": {}, **more.pop("params", {})}
        return (await self.modern("tools/call", params, **more)).messages[-1]  # type: ignore[no-any-return]

    async def session(
        self, capabilities: Mapping[str, Any] | None = None, version: str = "2025-11-25"
    ) -> Session:
        """A session of the 2025 era, its handshake done."""
        params = {
            "protocolVersion": version,
            "capabilities": dict(capabilities or {}),
            "clientInfo": {"name": "tests", "version": "1"},
        }
        opened = await self.client.ask(
            "POST",
            json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode(),
            _ACCEPT,
        )
        session = Session(self.client, version, opened.headers["mcp-session-id"], opened.message["result"])
        await session.post(INITIALIZED)
        return session


@dataclass
class Session:
    """A client's session of the 2025 era."""

    client: Client
    version: str
    id: str
    opened: dict[str, Any]

    @property
    def headers(self) -> dict[str, str]:
        return {**_ACCEPT, "mcp-session-id": self.id, "mcp-protocol-version": self.version}

    async def post(self, message: Mapping[str, Any], reply: Reply | None = None) -> Reply:
        """Send one message."""
        return await self.client.ask("POST", json.dumps(message).encode(), self.headers, reply=reply)

    async def ask(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        request_id: int = 1,
        reply: Reply | None = None,
    ) -> Reply:
        """The answer to a request."""
        body = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params or {})}
        return await self.post(body, reply)

    async def listen(self, reply: Reply, gone: anyio.Event, **headers: str) -> None:
        """Open the session's stream of what nobody asked for, until ``gone``."""
        await self.client.ask("GET", headers={**self.headers, **headers}, reply=reply, gone=gone)


@asynccontextmanager
async def talking(*tools: Mapping[str, Any], **more: Any) -> AsyncGenerator[Talking]:
    """A server of ``tools``; ``more`` are other keys of its config."""
    config = Config.model_validate({"tools": {"registry": list(tools)}, **more})
    async with running(config) as runtime, anyio.create_task_group() as helpers:
        application = Application(runtime, Access(), helpers)
        yield Talking(runtime, application, Client(application.app))
        application.close()
        helpers.cancel_scope.cancel()


async def reached(reply: Reply, count: int) -> list[Any]:
    """The first ``count`` messages of a stream that is still open, once they have come."""
    with anyio.fail_after(BOUND_S):
        while not reply.body or len(reply.messages) < count:
            await reply.more.wait()
    return reply.messages[:count]
