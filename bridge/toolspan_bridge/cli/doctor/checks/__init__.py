"""The checks: each a module, found by its name."""
