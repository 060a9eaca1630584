"""A conversation: its messages, what its requests begin with, and what keeps both on disk."""

from __future__ import annotations

from .conversation import MAX_BYTES, VERSION, Beginning, Conversation, Journal, Summary

__all__ = ["MAX_BYTES", "VERSION", "Beginning", "Conversation", "Journal", "Summary"]
