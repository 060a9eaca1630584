"""Fuzzers that run bounded in the suite, and for ``TOOLSPAN_FUZZ_SECONDS`` each by hand (``make fuzz``)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

SECONDS = float(os.environ.get("TOOLSPAN_FUZZ_SECONDS", "0"))


def go_on(examined: Callable[[], object], seconds: float = 0) -> None:
    """Run ``examined``, a Hypothesis property without arguments, once, and again until time is up:
    ``seconds`` where ``TOOLSPAN_FUZZ_SECONDS`` says nothing."""
    end = time.monotonic() + (SECONDS or seconds)
    examined()
    while time.monotonic() < end:
        examined()
