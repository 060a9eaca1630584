"""What ``builtin`` and ``internal`` share: a named Python function behind the tool."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from ..context import Context
from ..errors import HandlerNotFound
from ..handlers import Handler, find_handler
from ._blocking import Blocking


@dataclass
class Handled:
    """Calls the handler ``name`` of the table ``kind``.

    An ``async`` handler runs on the event loop. Any other runs in a worker thread, so that it can
    block; when the call is cancelled or times out nobody waits for that thread any more, and
    ``Context.cancelled`` tells the handler so.
    """

    kind: str
    name: str
    talks: bool = False

    @cached_property
    def _handler(self) -> Handler:
        found = find_handler(self.kind, self.name)
        if found is None:
            raise HandlerNotFound(self.kind, self.name)
        return found

    @cached_property
    def _blocking(self) -> Blocking:
        return Blocking(self.name)

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        """What the handler gives for ``arguments``."""
        handler = self._handler
        if inspect.iscoroutinefunction(handler):
            return await handler(dict(arguments), context)
        result = await self._blocking.run(partial(handler, dict(arguments), context))
        return await result if inspect.isawaitable(result) else result
