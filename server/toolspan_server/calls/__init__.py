"""The data of one call of a tool: its context, its client, its content and its result."""
