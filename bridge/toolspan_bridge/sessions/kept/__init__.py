"""Conversations that are kept: saved as they go on, read again, and written for others."""
