"""Validation in the app: runs in the background, the suites beside the config, and what the store has.

``part`` provides ``ValidationRuns``; ``web/api/validation.py`` has the endpoints.
"""
