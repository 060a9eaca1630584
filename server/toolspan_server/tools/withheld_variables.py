"""The environment variables that hold the server's own secrets, which no worker process gets."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..config import Config

_named: set[str] = set()


def withhold(variable: str) -> None:
    """Withhold the environment variable of that name from now on."""
    _named.add(variable)


def withheld(config: Config) -> frozenset[str]:
    """The variables withheld so far, and those whose value is a secret of the server in ``config``."""
    secrets = set(_secrets(config))
    return frozenset(_named | {name for name, value in os.environ.items() if value in secrets})


def _secrets(config: Config) -> Iterator[str]:
    if config.request_state_key:
        yield config.request_state_key
    every = [config.auth, *(toolset.auth for toolset in config.toolsets.values())]
    for auth in every:
        for token in () if auth is None else auth.tokens:
            if token.token:
                yield token.token
