"""The MCP servers of the app's session: what the API says of them, and sign-ins that a browser completes."""
