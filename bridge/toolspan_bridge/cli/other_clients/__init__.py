"""The other MCP clients of the user: what they have is found, and servers are written into their files."""
