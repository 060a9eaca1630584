"""The workspace: what was changed in it, and what is to be done."""
