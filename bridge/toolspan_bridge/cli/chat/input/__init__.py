"""The input line of a chat at a terminal: its keys, its history, long pastes, and what Tab completes."""
