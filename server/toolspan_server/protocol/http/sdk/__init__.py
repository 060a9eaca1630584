"""The MCP SDK over HTTP: its transports behind our endpoints, imported when first needed."""
