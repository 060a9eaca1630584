"""The config keys of what asks models: its client, conversations, hooks and approvals."""
