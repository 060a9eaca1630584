"""Reuses the result of an equal call of the same user; a cached result does not count for the rate limit."""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from ....calls.client import (
    Client,
    ClientAnswer,
    ClientWrapper,
    Question,
)
from ....calls.content import ABSENT, Content
from ....calls.context import Context
from ....calls.storage import Document, DocumentStore, Place
from ..step import Step, StepInputs

if TYPE_CHECKING:
    from ....config.models.tool_options import CacheConfig

ORDER = 40

Clock = Callable[[], float]


def build(following: Step, inputs: StepInputs) -> Step:
    """For tools with the key ``cache``."""
    config = inputs.tool.config.cache
    assert config is not None
    return cached(following, config, talks=inputs.tool.kind.talks)


def cached(following: Step, config: CacheConfig, *, talks: bool, now: Clock = time.monotonic) -> Step:
    """Reuse results of ``following`` for equal arguments of one user, within the limits of ``config``.

    Only successes are cached. Of equal concurrent calls one runs and the others wait for its outcome,
    failures included; when it is cancelled, the next one runs. Calls of a tool that ``talks`` to its client
    run separately, and a result that depends on a client's answers is not cached: it is for that client
    alone. So is the outcome of a call that used the tool's storage, which belongs to a conversation.
    """
    store = _Store(config, now)
    run = _by_itself(following, store) if talks else _one_for_all(following, store)

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        key = json.dumps([context.origin.user, arguments], sort_keys=True)
        kept = store.get(key)
        return await run(key, arguments, context) if kept is None else _unpacked(kept)

    return step


_Run = Callable[[str, dict[str, Any], Context], Any]


class _Flight:
    """A running call, and its outcome for the equal calls that wait for it."""

    def __init__(self) -> None:
        self.landed = asyncio.Event()
        self.packed: str | None = None
        self.error: Exception | None = None


def _one_for_all(following: Step, store: _Store) -> _Run:
    flights: dict[str, _Flight] = {}

    async def lead(key: str, arguments: dict[str, Any], context: Context) -> Any:
        flight = flights[key] = _Flight()
        noting = _Noting(context.store)
        try:
            result = await following(arguments, replace(context, store=noting))
            if not noting.used:
                flight.packed = _packed(result)
                store.put(key, flight.packed)
        except Exception as error:
            flight.error = None if noting.used else error
            raise
        finally:
            del flights[key]
            flight.landed.set()
        return result

    async def run(key: str, arguments: dict[str, Any], context: Context) -> Any:
        while (flight := flights.get(key)) is not None:
            await flight.landed.wait()
            if flight.error is not None:
                raise flight.error
            if flight.packed is not None:
                return _unpacked(flight.packed)
        return await lead(key, arguments, context)

    return run


def _by_itself(following: Step, store: _Store) -> _Run:
    async def run(key: str, arguments: dict[str, Any], context: Context) -> Any:
        listening, noting = _Listening(context.client), _Noting(context.store)
        result = await following(arguments, replace(context, client=listening, store=noting))
        if not listening.asked and not noting.used:
            store.put(key, _packed(result))
        return result

    return run


class _Store:
    """Packed results by key, limited in age, entries and bytes; the least recently used is evicted."""

    def __init__(self, config: CacheConfig, now: Clock) -> None:
        self._config = config
        self._now = now
        self._entries: OrderedDict[str, tuple[float, str]] = OrderedDict()
        self._bytes = 0

    def get(self, key: str) -> str | None:
        """The cached result for ``key``, unless it has expired."""
        if (found := self._entries.get(key)) is None:
            return None
        if found[0] <= self._now():
            self._drop(key)
            return None
        self._entries.move_to_end(key)
        return found[1]

    def put(self, key: str, packed: str) -> None:
        """Store ``packed`` under ``key``, unless it alone is too large."""
        if key in self._entries:
            self._drop(key)
        size = len(key) + len(packed)
        if size > self._config.max_bytes:
            return
        self._entries[key] = (self._now() + self._config.ttl_ms / 1000, packed)
        self._bytes += size
        while self._bytes > self._config.max_bytes or len(self._entries) > self._config.max_entries:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: str) -> None:
        _, packed = self._entries.pop(key)
        self._bytes -= len(key) + len(packed)


class _Listening(ClientWrapper):
    """A client that records whether it was asked anything."""

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self.asked = False

    @override
    async def ask(self, questions: Mapping[str, Question]) -> dict[str, ClientAnswer]:
        self.asked = True
        return await super().ask(questions)


class _Noting:
    """A store that records whether it was used."""

    def __init__(self, store: DocumentStore) -> None:
        self._store = store
        self.used = False

    def read(self, place: Place) -> Document:
        self.used = True
        return self._store.read(place)

    def replace(self, place: Place, version: str, data: Mapping[str, Any]) -> bool:
        self.used = True
        return self._store.replace(place, version, data)


def _packed(result: Any) -> str:
    """``result``, plain JSON data, as ASCII JSON: changing a copy cannot change the cached result."""
    if not isinstance(result, Content):
        return json.dumps([result])
    structured = () if result.structured is ABSENT else (result.structured,)
    return json.dumps([None, result.blocks, structured, result.meta])


def _unpacked(packed: str) -> Any:
    value, *content = json.loads(packed)
    if not content:
        return value
    blocks, structured, meta = content
    return Content(tuple(blocks), structured[0] if structured else ABSENT, meta)
