"""Stands in for the package of the leaderboard."""
