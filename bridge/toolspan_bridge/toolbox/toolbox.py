"""The tools of all connected servers, and calling them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio

from toolspan_server.engines.upstreams import ListedTool, ServerFailure, ServerSpec

from ..invisible_text import invisible_text_notes
from ..messages import ToolOutcome, ToolSpec
from .connection import ToolConnection
from .outcomes import UNLISTED_ACTION, failed

CONNECT_TIMEOUT_SECONDS = 10.0


class Toolbox:
    """``tools`` of every connected server, sorted by server and name; ``failures`` of the others;
    ``warnings`` about tools that were left out of the lists, and about text in them that is hidden from
    people.
    """

    def __init__(self, connections: Iterable[ToolConnection]) -> None:
        self._connections = {connection.spec.name: connection for connection in connections}
        known = self._connections.values()
        tools = [tool for connection in known for tool in connection.specs]
        self.tools: tuple[ToolSpec, ...] = tuple(sorted(tools, key=lambda tool: tool.key))
        self.failures: tuple[ServerFailure, ...] = tuple(c.failure for c in known if c.failure is not None)
        self.warnings: tuple[str, ...] = tuple(
            f"server {c.spec.name!r}: {w}" for c in known for w in c.warnings
        ) + tuple(invisible_text_notes(self.tools))

    @classmethod
    @asynccontextmanager
    async def connect(
        cls, servers: Iterable[ServerSpec], *, connect_timeout: float | None = None
    ) -> AsyncGenerator[Toolbox]:
        """Connect all ``servers`` concurrently; they end with the block. A failing server raises no
        exception: ``failures`` has one that has not answered within ``connect_timeout`` seconds; without
        that, within those of its ``ServerSpec``, or 10.
        """
        connections = [
            ToolConnection(spec, connect_timeout or spec.connect_timeout or CONNECT_TIMEOUT_SECONDS)
            for spec in servers
        ]
        fault: Exception | None = None
        async with anyio.create_task_group() as tasks:
            for connection in connections:
                tasks.start_soon(connection.run)
            try:
                for connection in connections:
                    await connection.ready.wait()
                yield cls(connections)
            except Exception as error:
                # carried past the task group, which would wrap it in an ExceptionGroup
                fault = error
            finally:
                for connection in connections:
                    connection.stop()
        if fault is not None:
            raise fault

    def definition(self, spec: ToolSpec) -> ListedTool:
        """The definition of ``spec`` as its server lists it now, which the conversation's may differ from.

        A tool that is no longer listed is described by ``spec`` alone.
        """
        connection = self._connections.get(spec.server)
        listed = () if connection is None else connection.tools
        found = next((tool for tool in listed if tool.name == spec.name), None)
        return found or ListedTool(spec.name, spec.description, spec.schema)

    def address(self, server: str) -> str:
        """The command line or URL of the server of that name; empty of one that is not known."""
        connection = self._connections.get(server)
        return "" if connection is None else connection.spec.address

    async def call(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any],
        call_id: str,
        conversation: str = "",
        *,
        approved: bool = False,
    ) -> ToolOutcome:
        """Call a tool. Never raises for errors of a tool, a server or a model; cancelling cancels the call
        there. ``call_id`` comes back in the outcome, which is the one result of that call of a model.
        ``conversation`` is the id of the conversation that the call belongs to, which our own servers keep
        state for. ``approved``: this very call was allowed, so that our own server need not have it allowed
        again.
        """
        connection = self._connections.get(spec.server)
        if connection is None:
            missing = f"Tool '{spec.name}' not found"
            return failed(call_id, spec.name, missing, "tool_not_found", UNLISTED_ACTION)
        if fault := _unsendable(arguments):
            action = "Send plain JSON: finite numbers and valid Unicode text."
            return failed(call_id, spec.name, f"Invalid parameters: {fault}", "invalid_parameters", action)
        return await connection.outcome(spec.name, arguments, call_id, conversation, approved=approved)


def _unsendable(arguments: Mapping[str, Any]) -> str:
    try:
        json.dumps(dict(arguments), allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "a text holds a lone surrogate, which is no Unicode character"
    except (ValueError, TypeError, RecursionError) as error:
        return f"the arguments cannot be written as JSON ({error})"
    return ""
