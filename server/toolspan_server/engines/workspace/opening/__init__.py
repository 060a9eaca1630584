"""Paths of a workspace: what they mean, what may be changed there, and how they are opened."""
