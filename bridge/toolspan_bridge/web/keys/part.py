"""The virtual keys as a part of the app."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ..part import Part

if TYPE_CHECKING:
    from ..app.state import App

__all__ = ["PART"]


@asynccontextmanager
async def _lifespan(app: App) -> AsyncGenerator[None]:
    from .admission import VirtualKeys

    keys = VirtualKeys(app.config.state_directory)
    app.provide(keys)
    try:
        yield
    finally:
        keys.close()


PART = Part(lifespan=_lifespan)
