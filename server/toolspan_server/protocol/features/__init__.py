"""Request handlers for the SDK's server: one module a feature of MCP, each with ``register``."""
