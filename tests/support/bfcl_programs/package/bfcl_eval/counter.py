"""A class whose state calls change."""

from __future__ import annotations

import os
from typing import Any


class Counter:
    """Counts."""

    def __init__(self) -> None:
        self.value = 0

    def _load_scenario(self, setup: dict[str, Any]) -> None:
        self.value = setup["value"]

    def add(self, amount: int) -> dict[str, Any]:
        """Add ``amount``."""
        self.value += amount
        return {"value": self.value}

    def read(self) -> dict[str, Any]:
        """The value."""
        print("what programs print is no answer")
        return {"value": self.value, "secrets": sorted(set(os.environ) - {"PATH", "LANG", "TZ", "LC_CTYPE"})}

    def crash(self) -> None:
        """End the process."""
        os._exit(1)
