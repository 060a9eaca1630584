"""The activity log as a part of the app."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from anyio import to_thread

from ..part import Part

if TYPE_CHECKING:
    from ..app.state import App

__all__ = ["PART"]


@asynccontextmanager
async def _lifespan(app: App) -> AsyncGenerator[None]:
    from toolspan_server.config import ActivityConfig

    from .activity import Activity
    from .log import ActivityLog

    wanted = app.config.activity or ActivityConfig()
    if not wanted.save:
        app.provide(Activity(None))
        yield
        return
    folder, days, most = app.config.state_directory, wanted.keep_days, wanted.keep_entries
    store = await to_thread.run_sync(lambda: ActivityLog(folder, keep_days=days, keep_entries=most))

    def redact(text: str) -> str:
        return app.config.redact(text)  # of now: the config may have been edited

    activity = Activity(store, redact, texts=wanted.texts)
    app.provide(activity)
    try:
        async with activity.writing():
            yield
    finally:
        store.close()


PART = Part(lifespan=_lifespan)
