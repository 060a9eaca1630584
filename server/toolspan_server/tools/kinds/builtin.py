"""``builtin``: a Python function that needs only its arguments."""

from __future__ import annotations

from typing import Annotated

from ...schema.constraints import OneOf
from ...schema.keys import DATA
from ...schema.records import key
from ._handled import HandledConfig


class Config(HandledConfig):
    """``{"type": "builtin", "handler": "<name>"}``, and ``options`` if the handler takes some."""

    type: Annotated[str, OneOf(("builtin",))] = key(default="builtin", inert=DATA)
