"""Texts and notebooks: how they are read as such, changed and compared."""
