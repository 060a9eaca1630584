"""Modules of Python: found and read without importing them, and run from a text that was read."""
