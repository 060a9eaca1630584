"""What a tool keeps from one call to the next, for one user in one conversation."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from ..errors import InvalidParameters, ToolFailure

LONGEST_KEY = 200
_PATIENCE_S = 10.0


_Change = Callable[[dict[str, Any]], "dict[str, Any] | None"]


class Place(NamedTuple):
    """Whose document it is: the user, the conversation and the tool, each any text that is not empty."""

    user: str
    conversation: str
    tool: str


class Document(NamedTuple):
    """What is stored at a place: ``data``, and the ``version`` that it has there (``""``: there is none)."""

    data: dict[str, Any]
    version: str


class DocumentStore(Protocol):
    """Holds one document, a JSON object, for each place. Every method blocks; any thread may call it."""

    def read(self, place: Place) -> Document:
        """The document at ``place``, an empty one if there is none. Raises ``ToolFailure``."""
        ...

    def replace(self, place: Place, version: str, data: Mapping[str, Any]) -> bool:
        """Put ``data`` there if its version is still ``version``; returns whether it was.

        Empty ``data`` removes the document. Afterwards it is stored for good, or, where this raises
        ``ToolFailure``, as it was.
        """
        ...


class ToolStorage:
    """The values that the tool ``tool`` keeps for ``user`` in ``conversation``, by keys.

    Each is any JSON value, and what is read is a copy. Every method blocks on a disk or a database, so a
    handler that is ``async`` uses those of ``awaited``. Each raises ``ToolFailure`` when the store fails, and
    then nothing is changed.
    """

    def __init__(self, user: str, conversation: str, tool: str, store: DocumentStore) -> None:
        self.place = Place(user, conversation, tool)
        self.store = store

    @property
    def awaited(self) -> AwaitedStorage:
        """The same for handlers that are ``async``: ``await context.storage.awaited.get("key")``."""
        return AwaitedStorage(self)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of ``key``, or ``default`` when it has none."""
        return self.store.read(self.place).data.get(key, default)

    def set(self, key: str, value: Any) -> None:
        """Store ``value``, any JSON value, as the value of ``key``, a text of 1 to 200 characters."""
        self.update(key, lambda _: value)

    def update(self, key: str, change: Callable[[Any], Any], default: Any = None) -> Any:
        """Store what ``change`` makes of the value of ``key`` (``default`` when it has none), and return it.

        No other call's value is lost in between: where one came first, ``change`` is called again with that.
        """
        if not 1 <= len(key) <= LONGEST_KEY:
            raise InvalidParameters([f"a key of storage must have 1 to {LONGEST_KEY} characters"])
        changed: Any = None

        def with_value(data: dict[str, Any]) -> dict[str, Any]:
            nonlocal changed
            changed = change(data.get(key, default))
            return {**data, key: changed}

        self._change(with_value)
        return changed

    def delete(self, key: str) -> None:
        """Remove ``key`` and its value, if it is there."""
        self._change(lambda data: _without(key, data) if key in data else None)

    def get_all(self) -> dict[str, Any]:
        """Every value by its key."""
        return self.store.read(self.place).data

    def clear(self) -> None:
        """Remove every value."""
        self._change(lambda data: {} if data else None)

    def _change(self, change: _Change) -> None:
        """Store what ``change`` makes of the document, unless that is ``None``."""
        end = time.monotonic() + _PATIENCE_S
        while time.monotonic() < end:
            data, version = self.store.read(self.place)
            changed = change(data)
            if changed is None or self.store.replace(self.place, version, changed):
                return
        raise ToolFailure(
            f"Other calls were changing what this tool stores for {_PATIENCE_S:g} s without a pause",
            error_code="storage_busy",
            user_action="Try again when fewer calls of this conversation run.",
        )


class AwaitedStorage:
    """The methods of ``storage``, each in a thread, so that none holds up the event loop. A call that is
    cancelled waits for the one that it began."""

    def __init__(self, storage: ToolStorage) -> None:
        self._storage = storage

    async def get(self, key: str, default: Any = None) -> Any:
        """The value of ``key``, or ``default`` when it has none."""
        return await _in_thread(self._storage.get, key, default)

    async def set(self, key: str, value: Any) -> None:
        """Store ``value``, any JSON value, as the value of ``key``, a text of 1 to 200 characters."""
        await _in_thread(self._storage.set, key, value)

    async def update(self, key: str, change: Callable[[Any], Any], default: Any = None) -> Any:
        """Store what ``change``, called in the thread, makes of the value of ``key``, and return it."""
        return await _in_thread(self._storage.update, key, change, default)

    async def delete(self, key: str) -> None:
        """Remove ``key`` and its value, if it is there."""
        await _in_thread(self._storage.delete, key)

    async def get_all(self) -> dict[str, Any]:
        """Every value by its key."""
        found: dict[str, Any] = await _in_thread(self._storage.get_all)
        return found

    async def clear(self) -> None:
        """Remove every value."""
        await _in_thread(self._storage.clear)


async def _in_thread(method: Callable[..., Any], *arguments: Any) -> Any:
    import anyio.to_thread

    return await anyio.to_thread.run_sync(method, *arguments)


def _without(key: str, data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != key}


class NoStore:
    """The store of a context that was made without one: it holds nothing, and says so."""

    def read(self, place: Place) -> Document:
        """Raises ``ToolFailure``."""
        raise _no_store(place)

    def replace(self, place: Place, version: str, data: Mapping[str, Any]) -> bool:
        """Raises ``ToolFailure``."""
        raise _no_store(place)


def _no_store(place: Place) -> ToolFailure:
    return ToolFailure(
        f"There is no storage for the tool '{place.tool}' in a context that was made without a server",
        error_code="storage_not_available",
        user_action="Serve the tool from a config, or give the Context a store.",
    )
