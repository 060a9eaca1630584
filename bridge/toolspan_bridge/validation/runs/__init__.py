"""Runs of validation: the trials that are planned, made and kept, and what they come to."""
