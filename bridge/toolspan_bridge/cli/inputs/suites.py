"""The suite that ``--suite`` names."""

from __future__ import annotations

from pathlib import Path

from ...validation import Suite, default_suite, load_suite
from ...validation.bfcl import BfclSuite, load_bfcl

BFCL = "bfcl:"
"""What stands before the path of the leaderboard's files."""


def named_suite(name: str | None) -> Suite | BfclSuite:
    """The suite in the file ``name``, the leaderboard's cases of ``bfcl:PATH``, or the built-in suite.

    Raises ``ConfigError`` and ``UsageError`` with file and line.
    """
    if name is None:
        return default_suite()
    if name.startswith(BFCL):
        return load_bfcl(Path(name.removeprefix(BFCL)))
    return load_suite(Path(name))
