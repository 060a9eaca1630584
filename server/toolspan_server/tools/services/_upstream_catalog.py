"""What an upstream lists beside its tools: resources, resource templates and prompts, kept current."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio

from ...common.changes import Change
from ...engines.upstreams import CallRefused, NoResult, NotAuthorized, ServerGone

if TYPE_CHECKING:
    from ...engines.upstreams import Connection

_log = logging.getLogger(__name__)

MOST_ITEMS = 5_000
"""Most entries of one list that are taken from an upstream."""

MOST_BYTES = 8_388_608
"""Most JSON that one list may come to, in characters."""

_MOST_PAGES = 100
_LIST_SECONDS = 30.0
_PAUSE_SECONDS = 0.5

Kind = Literal["resources", "prompts"]
_LISTS: Mapping[Kind, Sequence[tuple[str, str, str]]] = {
    "resources": (
        ("resources/list", "resources", "uri"),
        ("resources/templates/list", "resourceTemplates", "uriTemplate"),
    ),
    "prompts": (("prompts/list", "prompts", "name"),),
}
_TOLD: Mapping[str, Kind] = {
    "notifications/resources/list_changed": "resources",
    "notifications/prompts/list_changed": "prompts",
}
_FAILURES = (CallRefused, NoResult, NotAuthorized, ServerGone, TimeoutError)


class Catalog:
    """The lists of the upstream ``name``, each as it was read last, by the name of its member in MCP.

    ``changed`` is called with what differs from before, or is said to; ``ready`` is set once it is known
    what there is; ``begun_at`` is of ``time.monotonic``. While the upstream is lost, its lists stay.
    """

    def __init__(self, name: str) -> None:
        self.lists: dict[str, tuple[dict[str, Any], ...]] = {}
        self.changed: Callable[[Change], None] = _ignored
        self.ready = anyio.Event()
        self.begun_at = time.monotonic()
        self._name = name
        self._wanted: set[Kind] = set()
        self._told: set[Kind] = set()
        self._woken = anyio.Event()

    def read_again(self, *kinds: Kind) -> None:
        """Have the lists of ``kinds`` read, all of them without any."""
        self._wanted.update(kinds or _LISTS)
        self._woken.set()

    def notified(self, method: str, params: Mapping[str, Any]) -> bool:
        """Whether the notification is about the lists, or a resource: it is passed on then."""
        if (kind := _TOLD.get(method)) is not None:
            self._told.add(kind)
            self.read_again(kind)
            return True
        if method == "notifications/resources/updated" and isinstance(params.get("uri"), str):
            self.changed(Change("resource", params["uri"]))
            return True
        return False

    async def keep(self, connection: Connection) -> None:
        """Read the lists when that is wanted, until cancelled; the more often, the longer the pauses."""
        while True:
            await self._woken.wait()
            self._woken = anyio.Event()
            wanted, self._wanted = self._wanted, set()
            if connection.is_up:
                for kind in sorted(wanted):
                    await self._read(connection, kind)
                self.ready.set()
                await anyio.sleep(_PAUSE_SECONDS)
            elif connection.lost is not None:
                self.ready.set()

    async def _read(self, connection: Connection, kind: Kind) -> None:
        before = dict(self.lists)
        for method, member, key in _LISTS[kind]:
            if not connection.offers(kind):
                self.lists[member] = ()
                continue
            try:
                self.lists[member] = await self._pages(connection, method, member, key)
            except _FAILURES as error:
                refused = isinstance(error, CallRefused) and error.code == -32601
                if refused:
                    self.lists[member] = ()
                else:
                    _log.warning("upstream %r: its %s cannot be listed: %s", self._name, member, error)
        told = kind in self._told
        self._told.discard(kind)
        if told or any(self.lists.get(member, ()) != before.get(member, ()) for _, member, _ in _LISTS[kind]):
            self.changed(Change(kind))

    async def _pages(
        self, connection: Connection, method: str, member: str, key: str
    ) -> tuple[dict[str, Any], ...]:
        found: dict[str, dict[str, Any]] = {}
        cursor: str | None = None
        size = 0
        for _ in range(_MOST_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            page = await connection.request(method, params, timeout=_LIST_SECONDS)
            for entry in _entries(page.get(member), key):
                size += len(json.dumps(entry))
                if len(found) == MOST_ITEMS or size > MOST_BYTES:
                    limit = f"{MOST_ITEMS:,} entries or {MOST_BYTES:,} characters"
                    _log.warning("upstream %r: its %s are more than %s: cut", self._name, member, limit)
                    return tuple(found.values())
                found.setdefault(entry[key], entry)
            following = page.get("nextCursor")
            if not isinstance(following, str) or following == cursor:
                return tuple(found.values())
            cursor = following
        _log.warning("upstream %r: more than %d pages of %s: cut", self._name, _MOST_PAGES, member)
        return tuple(found.values())


def _entries(listed: Any, key: str) -> list[dict[str, Any]]:
    """The entries that can be used: objects with their key, and a name."""
    if not isinstance(listed, list):
        return []
    entries = cast("Sequence[Any]", listed)[: MOST_ITEMS + 1]
    return [
        cast("dict[str, Any]", each)
        for each in entries
        if isinstance(each, dict) and all(isinstance(each.get(name), str) for name in (key, "name"))  # pyright: ignore[reportUnknownMemberType]  # any JSON
    ]


def _ignored(_change: Change) -> None:
    return None
