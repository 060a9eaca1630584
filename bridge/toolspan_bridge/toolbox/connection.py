"""One server's connection as the toolbox uses it: every call ends in an outcome."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, cast

from toolspan_server.engines.upstreams import (
    CallRefused,
    Connection,
    ListedTool,
    NoResult,
    ServerGone,
    UpstreamResult,
)

from ..approvals import asks_itself
from ..messages import ToolOutcome, ToolSpec
from ._approved_call import approved_call
from .outcomes import (
    TOOL_ERROR_ACTION,
    UNLISTED_ACTION,
    failed,
    outcome,
)

_STRICT = "dev.toolspan/strict"
"""The key of a tool's ``_meta`` by which its server requests strict schemas."""
CONVERSATION_META = "dev.toolspan/conversation"
"""The key of a call's ``_meta`` by which our own server knows the conversation that the call belongs to."""
_UNAVAILABLE_ACTION = "Check that the server runs and what it last said, or answer without its tools."
_TIMEOUT_ACTION = "Try a smaller request, or raise tools.default_timeout_ms in the config."


class ToolConnection(Connection):
    """The connection to the server of ``spec``; ``specs`` has its tools as models see them."""

    @property
    def specs(self) -> list[ToolSpec]:
        """The server's tools."""
        return [self._spec(tool) for tool in self.tools]

    def _spec(self, tool: ListedTool) -> ToolSpec:
        output, meta = (_object(tool.details.get(key)) for key in ("outputSchema", "_meta"))
        return ToolSpec(
            self.spec.name,
            tool.name,
            tool.description,
            tool.schema,
            output_schema=output or None,
            strict=meta.get(_STRICT) is True,
        )

    async def outcome(
        self,
        name: str,
        arguments: Mapping[str, Any],
        call_id: str,
        conversation: str = "",
        *,
        approved: bool = False,
    ) -> ToolOutcome:
        """Call the tool ``name``. Whatever the server does, there is an outcome within the call's timeout.

        A server of our own is told the id of the ``conversation``, for which it keeps state; no other is.
        ``approved``: the call was allowed here, which is the answer when our own server asks for that.
        """
        meta = {CONVERSATION_META: conversation} if self.spec.own and conversation else {}
        started = time.perf_counter()
        timeout = self.spec.call_timeout

        def instead(error: str, code: str, action: str) -> ToolOutcome:
            return failed(call_id, name, error, code, action, _elapsed_ms(started))

        try:
            if approved and self.spec.own and self._asks_itself(name):
                answer = await approved_call(self, name, arguments, meta, timeout)
            else:
                answer = await self.call(name, arguments, meta=meta, timeout=timeout)
        except TimeoutError:
            text = f"Tool execution timed out after {round(timeout * 1000)}ms"
            return instead(text, "timeout", _TIMEOUT_ACTION)
        except ServerGone as error:
            return instead(str(error), "server_unavailable", _UNAVAILABLE_ACTION)
        except NoResult as error:
            return instead(str(error), "tool_error", _UNAVAILABLE_ACTION)
        except CallRefused as error:
            missing = f"Tool '{name}' not found"
            if error.message in (missing, f"Unknown tool: {name}", f"Tool {name} not found"):
                return instead(missing, "tool_not_found", UNLISTED_ACTION)
            code = "invalid_parameters" if error.is_invalid else "tool_error"
            return instead(error.message, code, TOOL_ERROR_ACTION)
        if not isinstance(answer, UpstreamResult):
            text = f"server {self.spec.name!r} wants input from its client, which cannot give any"
            return instead(text, "tool_error", _UNAVAILABLE_ACTION)
        return outcome(call_id, name, answer, _elapsed_ms(started))

    def _asks_itself(self, name: str) -> bool:
        return any(asks_itself(tool) for tool in self.tools if tool.name == name)


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _elapsed_ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
