"""``internal``: a Python function that uses the server's services."""

from __future__ import annotations

from typing import Annotated

from ...schema.constraints import OneOf
from ...schema.keys import DATA
from ...schema.records import key
from ._handled import HandledConfig


class Config(HandledConfig):
    """``{"type": "internal", "handler": "<name>"}``, and ``options`` if the handler takes some."""

    type: Annotated[str, OneOf(("internal",))] = key(default="internal", inert=DATA)
