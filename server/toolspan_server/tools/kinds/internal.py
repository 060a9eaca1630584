"""``internal``: a Python function that works on the server's services."""

from __future__ import annotations

from ...schema.records import choice, key
from ._handled import HandledConfig


class Config(HandledConfig):
    """``{"type": "internal", "handler": "<name>"}``, and ``options`` if the handler takes some."""

    type: str = key(choice("internal"), default="internal")
