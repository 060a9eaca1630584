"""The mcp SDK behind the fast path. Its modules import ``mcp``, but for ``lazy_server``."""
