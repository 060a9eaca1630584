"""Secrets in texts: known ones taken out, and what has the shape of one."""
