"""``builtin``: a Python function that needs nothing but its arguments."""

from __future__ import annotations

from ...schema.records import choice, key
from ._handled import HandledConfig


class Config(HandledConfig):
    """``{"type": "builtin", "handler": "<name>"}``, and ``options`` if the handler takes some."""

    type: str = key(choice("builtin"), default="builtin")
