"""The runs of validation live as long as the app."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from ..part import Part
from .runs import ValidationRuns

if TYPE_CHECKING:
    from ..app.state import App


@asynccontextmanager
async def _lifespan(app: App) -> AsyncGenerator[None]:
    async with anyio.create_task_group() as tasks:
        app.provide(ValidationRuns(app, tasks))
        try:
            yield
        finally:
            tasks.cancel_scope.cancel()


PART = Part(lifespan=_lifespan)
