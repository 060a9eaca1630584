"""The conversation: what was said, kept, copied, left, and gone on with."""
