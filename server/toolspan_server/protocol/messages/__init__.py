"""MCP's messages as plain data: JSON-RPC, shapes of tools and results, pagination, capabilities."""
