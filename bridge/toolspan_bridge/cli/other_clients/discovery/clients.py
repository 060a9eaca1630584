"""The clients whose servers are found, and the machine that they run on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..install.clients import HostEnvironment, System
from ._places import CLIENT_NAMES

__all__ = ["CLIENT_NAMES", "this_machine"]


def this_machine() -> HostEnvironment:
    """This system, its user and the current folder."""
    systems: dict[str, System] = {"win32": "windows", "darwin": "darwin"}
    return HostEnvironment(systems.get(sys.platform, "linux"), Path.home(), os.environ, Path.cwd())
