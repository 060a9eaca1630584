"""The chat: one conversation, its commands, and where its lines come from."""
