"""The history that clients send back, and what of it they never saw."""
