"""Wordings of the prompt format: which of them serves a model, how it is chosen, and what was chosen."""
