"""A handler that runs in a worker process. Imported only for configs that have one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...calls.context import Context
from ...engines.isolation._callbacks import abilities
from ...engines.isolation._pool import Pool
from ...engines.registration import find_handler, handler_file, handler_pin
from ...errors import HandlerNotFound
from ...parts.environment import Environment


@dataclass
class Isolated:
    """Calls the handler ``name`` of the table ``kind`` in a worker; ``options`` are those in the config."""

    kind: str
    name: str
    talks: bool
    options: Any
    environment: Environment

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        """The handler's return value for ``arguments``."""
        function = find_handler(self.kind, self.name)
        if function is None:
            raise HandlerNotFound(self.kind, self.name)
        file = handler_file(self.kind, self.name)
        message = {
            "kind": self.kind,
            "name": self.name,
            "source": function.__module__ if file is None else str(file),
            "pin": None if file is None else handler_pin(file),
            "arguments": dict(arguments),
            "options": self.options,
            "tool_name": context.tool_name,
            "config_dir": str(context.config_dir),
            "principal": context.origin.principal,
            "meta": context.origin.meta_of_worker(context.meta),
            "depth": context.depth,
            "accepts": abilities(context),
            "memory": dict(context.client.memory),
        }
        pool = self.environment.shared.get(Pool, lambda: Pool(self.environment.processes))
        return await pool.run(f"{self.kind} {self.name}", message, context)
