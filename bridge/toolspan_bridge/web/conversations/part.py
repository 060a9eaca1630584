"""The part of the app that answers in conversations in the background."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ..part import Part

if TYPE_CHECKING:
    from ..app.state import App


@asynccontextmanager
async def _lifespan(app: App) -> AsyncGenerator[None]:
    from ..activity import Activity
    from .engine import Conversations

    conversations = Conversations(app.using, activity=app.of(Activity))
    app.provide(conversations)
    async with conversations.running():
        yield


PART = Part(lifespan=_lifespan)
