"""Events of a question in words: a line each, or a few."""
