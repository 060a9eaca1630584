"""``echo``: gives back what it got."""

from __future__ import annotations

from typing import Any

from ...calls.context import Context
from ...engines.registration import handler
from ...schema.keys import PURE


@handler("echo", inert=PURE)
async def echo(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"message": "hi"}`` → ``{"echo": {"message": "hi"}}``."""
    return {"echo": arguments}
