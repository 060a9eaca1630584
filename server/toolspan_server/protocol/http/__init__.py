"""MCP over HTTP: the guard before every route, both eras' endpoints, sessions, worker processes."""
