"""What a handler in a worker reaches of its call's surroundings: all but the services."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, NoReturn

from typing_extensions import override

from ...calls.client import (
    Capability,
    ClientAnswer,
    Level,
    Question,
)
from ...calls.context import Context
from ...calls.results import ToolResult
from ...calls.storage import Document, Place
from ...common.changes import Change
from ...errors import ToolFailure
from ..storage._failures import not_json

Ask = Callable[..., Awaitable[Any]]


class NoServices(Mapping[str, Any]):
    """No services: they are in the server's process, and a look-up raises an error that says so."""

    @override
    def __getitem__(self, name: str) -> NoReturn:
        raise _no_services(f"Service {name!r}")

    @override
    def __iter__(self) -> Iterator[str]:
        raise _no_services("A service")

    @override
    def __len__(self) -> int:
        raise _no_services("A service")


def _no_services(what: str) -> ToolFailure:
    return ToolFailure(
        f"{what} cannot be used by a handler in a worker process",
        error_code="service_not_available",
        user_action="Set isolation: thread in the tool's implementation: it runs beside the services then.",
    )


class RemoteClient:
    """``Client`` of a call whose client the server talks to."""

    def __init__(self, ask: Ask, abilities: Sequence[str], memory: dict[str, Any]) -> None:
        self.memory: MutableMapping[str, Any] = memory
        self._ask = ask
        self._abilities = abilities

    def accepts(self, capability: Capability) -> bool:
        """Whether the client can answer such questions."""
        return capability in self._abilities

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, ClientAnswer]:
        """The client's answers; see ``Client.ask``."""
        encoded = {key: [each.ability, dict(each.params)] for key, each in questions.items()}
        answers: dict[str, ClientAnswer] = await self._ask("questions", encoded)
        return answers

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress."""
        await self._ask("progress", progress, total, message)

    async def log(self, level: Level, data: Any, logger: str | None = None) -> None:
        """Pass on a log message."""
        await self._ask("log", level, data, logger)

    async def release(self) -> None:
        """Let go of the connection that the call came by."""
        await self._ask("release")

    async def call_tool(self, name: str, arguments: Mapping[str, Any], context: Context) -> ToolResult:
        """The result of another tool."""
        encoded = await self._ask("tool", name, dict(arguments))
        content = encoded.pop("content")
        return ToolResult(**encoded, content=None if content is None else tuple(content))


class RemoteStore:
    """``DocumentStore`` of a call: the server stores it, at the place of that call whatever is asked for."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def read(self, place: Place) -> Document:
        """The document of this call's tool."""
        data, version = self._ask("read")
        return Document(data, version)

    def replace(self, place: Place, version: str, data: Mapping[str, Any]) -> bool:
        """Put ``data`` there if its version is still ``version``; returns whether it was."""
        try:
            return bool(self._ask("replace", version, dict(data)))
        except (TypeError, ValueError, RecursionError) as error:
            raise not_json(error) from None


def encoded_change(change: Change) -> list[str]:
    """``change`` as it is sent."""
    return [change.of, change.uri]
