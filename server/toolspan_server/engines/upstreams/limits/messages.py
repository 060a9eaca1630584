"""JSON-RPC messages of a server, as the SDK has them."""

from __future__ import annotations

from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from .bounded_json import parsed


def message_of(text: bytes) -> SessionMessage:
    """The message that ``text`` is. Raises ``ValueError``, whose text says what it is instead."""
    value = parsed(text)
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(value, by_name=False))
    except ValueError:
        raise ValueError("an answer that is no valid JSON-RPC message") from None
