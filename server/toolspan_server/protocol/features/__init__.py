"""What the SDK's server is told to answer: one module a feature of MCP, each with ``register``."""
