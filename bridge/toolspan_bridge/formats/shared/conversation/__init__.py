"""The conversation as providers take it: turns in order, every call with one result, media within limits."""
