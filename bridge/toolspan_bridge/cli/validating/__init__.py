"""Validation at a terminal: what is run, how it is shown, and how it is interrupted."""
