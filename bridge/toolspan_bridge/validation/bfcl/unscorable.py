"""What BFCL's checker cannot decide."""

from __future__ import annotations


class Unscorable(Exception):
    """The leaderboard's checker ends with an error here: its accepted answers or types are of no shape that
    it knows. Such an answer is no success, and the message says why."""
