"""``services.queues``: queues of messages on other hosts, with a spool beside the config."""

from __future__ import annotations

from collections.abc import Iterable

from typing_extensions import override

from ...parts.environment import Environment
from ...parts.service import Service, ServiceConfig
from ...problems import Path
from ...schema.records import Record, key


class QueueConfig(Record):
    """One queue."""

    host: str = key("The host that it is on.", least=1)
    user: str = key("Who takes messages from it.", least=1, default="toolspan")
    spool: str = key("The file that messages wait in.", least=1, default="spool")


class Config(ServiceConfig):
    """``{"orders": {"host": "queue.example"}}``: the queues by name."""

    about = "Queues of messages on other hosts, by name."

    root: dict[str, QueueConfig]

    @override
    def hosts(self) -> Iterable[tuple[str, str]]:
        return ((name, queue.host) for name, queue in self.root.items())

    @override
    def started(self) -> Iterable[tuple[str, str]]:
        return ((name, f"queue-client --user {queue.user}") for name, queue in self.root.items())

    @classmethod
    @override
    def is_local(cls, path: Path) -> bool:
        return path[1:] == ("spool",)

    @override
    def build(self, environment: Environment) -> Service:
        return _Queues()


class _Queues:
    async def run(self) -> None:
        import anyio

        await anyio.sleep_forever()
