"""Toolspan's bridge: any MCP server's tools, in any model's words, through one loop."""
