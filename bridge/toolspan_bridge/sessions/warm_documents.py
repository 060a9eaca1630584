"""The documents that routes of a session want, searched by one server for all of its questions."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import anyio
from anyio.abc import TaskStatus

from toolspan_server.common.supervision import report_failure
from toolspan_server.config import Config

from ..routes import Documents, Passages

__all__ = ["WarmDocuments"]


class WarmDocuments:
    """An async context manager: the first question that wants documents of ``config`` starts the server,
    which ends with the block."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._tasks = anyio.create_task_group()
        self._documents: Documents | None = None

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)  # what it is given would come out in a group

    async def context(self, wanted: Passages, question: str) -> str:
        """As ``Documents.context``. Raises ``StoreError``."""
        documents = self._documents
        if documents is None:
            documents = self._documents = await self._tasks.start(self._serve)
        return await documents.context(wanted, question)

    async def _serve(self, *, task_status: TaskStatus[Documents]) -> None:
        documents: Documents | None = None
        try:
            async with Documents.opened(self._config) as documents:
                task_status.started(documents)
                await anyio.sleep_forever()
        except Exception as error:
            if documents is None:
                raise
            report_failure("the server of documents", error, "is started again when it is asked")
            self._documents = None
