"""The sign-ins of the app, which go on beside its requests."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from ..part import Part
from .signing_in import SignIns

if TYPE_CHECKING:
    from ..app.state import App


@asynccontextmanager
async def _signing_in(app: App) -> AsyncGenerator[None]:
    async with anyio.create_task_group() as tasks:
        app.provide(SignIns(app, tasks))
        yield
        tasks.cancel_scope.cancel()


PART = Part(lifespan=_signing_in)
