"""The pause before another attempt at a provider, shown as a wait."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

from ....providers.http.retry import RetryWait, on_retry
from .waits import waiting


def show_retries() -> None:
    """From now on in this task, and in tasks that it begins, show the pauses on the terminal. Where stderr is
    none they are logged as before."""
    if sys.stderr.isatty():
        on_retry.set(_shown)


@contextmanager
def _shown(wait: RetryWait) -> Generator[None]:
    text = f"attempt {wait.attempt} at {wait.provider} in {wait.seconds:.1f} s: {wait.reason}"
    with waiting(text):
        yield
