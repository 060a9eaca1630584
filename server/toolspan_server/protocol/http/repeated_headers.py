"""The headers of MCP, each of which a request may have once."""

from __future__ import annotations

from ...http_server.asgi import RefusedResponse

HEADER_MISMATCH = -32020
"""The headers of a request disagree with its body (MCP 2026-07-28, basic/transports)."""

ONCE = {
    b"mcp-": RefusedResponse(400, "A header of MCP (Mcp-*) may be there once", code=HEADER_MISMATCH),
}
"""Why a request is refused that repeats a header whose name starts so."""
