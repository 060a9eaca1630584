"""Checks across a config's parts and files, beyond those of single records."""
