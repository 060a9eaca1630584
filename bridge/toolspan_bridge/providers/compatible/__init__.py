"""Providers that need no code of their own: OpenAI-compatible ones as rows, and those of the config."""
