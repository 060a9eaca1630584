"""The key of this process, and of the workers that it starts."""

from __future__ import annotations

import secrets
from functools import cache


@cache
def ephemeral_key() -> bytes:
    """A key made when first asked for. Ask before the workers are forked: they then have the same."""
    return secrets.token_bytes(32)
