"""What the mcp SDK answers over HTTP: its transports behind our endpoints, imported when first needed."""
