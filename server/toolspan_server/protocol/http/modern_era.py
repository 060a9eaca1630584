"""The modern era over HTTP: requests are independent of each other.

MCP 2026-07-28, basic/transports, Streamable HTTP. The routing headers must agree with the body; a
request whose headers do not, or that is not plain, goes to the SDK, which writes the refusal.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any, cast

from ...live.views import ServerView
from ...tools.registry import Tool
from ..fast_path import MODERN_VERSION, Call, FastPath
from .call_runner import CallRunner
from .exchange import NOT_ACCEPTABLE, Exchange, accepts
from .repeated_headers import HEADER_MISMATCH
from .sdk.lazy_server import LazySdkServer

_VERSION = MODERN_VERSION.encode()
_OF_TASKS = frozenset({"tasks/get", "tasks/update", "tasks/cancel"})
_ENCODED = re.compile(rb"=\?base64\?(.*)\?=")


class ModernEra:
    """Answers the requests whose ``MCP-Protocol-Version`` has no handshake."""

    def __init__(
        self, view: ServerView, fast_path: FastPath, caller: CallRunner, sdk_server: LazySdkServer
    ) -> None:
        self._view = view
        self._fast_path = fast_path
        self._caller = caller
        self._sdk_server = sdk_server
        self._mirrored: dict[str, tuple[Tool, bool]] = {}

    async def __call__(self, exchange: Exchange) -> None:
        if exchange.method != "POST":
            await exchange.refuse(405, "Method Not Allowed", (b"allow", b"POST"))
            return
        if accepts(exchange.headers.get(b"accept", b"")) != (True, True):
            await exchange.refuse(406, NOT_ACCEPTABLE)
            return
        message = await exchange.message()
        if message is None:
            return
        served = exchange.headers[b"mcp-protocol-version"] == _VERSION
        if served and "id" not in message and "method" in message:
            await exchange.answer(202)
            return
        if message.get("method") in _OF_TASKS and not _names_task(exchange.headers, message):
            fault = "mcp-name header does not match the request body's 'taskId' parameter"
            await exchange.refuse(400, fault, code=HEADER_MISMATCH, request_id=message.get("id"))
            return
        answer = (
            self._fast_path.answer(message, MODERN_VERSION) if self._is_routed(exchange, message) else None
        )
        if answer is None or (isinstance(answer, Call) and self._is_mirrored(answer.tool)):
            await self._sdk_server.hand(exchange)
        elif isinstance(answer, Call):
            await exchange.answer(200, await self._caller.made(answer, exchange))
        else:
            await exchange.answer(400 if message["method"] == "tools/call" else 200, answer)

    def _is_routed(self, exchange: Exchange, message: Mapping[str, Any]) -> bool:
        """Whether the routing headers agree with the body, in their plain form."""
        headers = exchange.headers
        method = message.get("method")
        if (
            "id" not in message
            or not isinstance(method, str)
            or headers.get(b"mcp-method") != method.encode()
            or not method.isascii()
            or headers[b"mcp-protocol-version"] != _VERSION
        ):
            return False
        return method != "tools/call" or _is_named(headers, message.get("params"))

    def _is_mirrored(self, tool: Tool) -> bool:
        """Whether the tool wants arguments repeated in ``Mcp-Param-*`` headers."""
        known = self._mirrored.get(tool.name)
        if known is None or known[0] is not tool:
            mirrored = '"x-mcp-header"' in json.dumps(tool.config.parameters)
            known = self._mirrored[tool.name] = (tool, mirrored)
        return known[1]


def _is_named(headers: Mapping[bytes, bytes], params: Any) -> bool:
    name: Any = cast("dict[str, Any]", params).get("name") if isinstance(params, dict) else None
    return isinstance(name, str) and name.isascii() and headers.get(b"mcp-name") == name.encode()


def _names_task(headers: Mapping[bytes, bytes], message: Mapping[str, Any]) -> bool:
    """Whether ``Mcp-Name`` is the task's id (SEP-2663, routing headers); a missing id is not refused here."""
    params: Any = message.get("params")
    task_id: Any = cast("dict[str, Any]", params).get("taskId") if isinstance(params, dict) else None
    if not isinstance(task_id, str):
        return True
    return _decoded(headers.get(b"mcp-name", b"")) == task_id.encode("utf-8", "replace")


def _decoded(value: bytes) -> bytes:
    """A header's value, decoded if it is Base64 (MCP 2026-07-28, basic/transports, value encoding)."""
    encoded = _ENCODED.fullmatch(value)
    if encoded is None:
        return value
    try:
        return base64.b64decode(encoded[1], validate=True)
    except binascii.Error:
        return value
