"""The live resources of a config."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any

import anyio
import anyio.from_thread
import anyio.to_thread

from ..calls.caller import Origin
from ..common.changes import Change
from ..common.json_values import repaired
from ..common.supervision import kept
from ..engines.uri_templates import LONGEST_URI
from ..errors import RequestRefused
from ..schema.records import is_same
from ._entries import Entry
from ._templated import TemplatedFile, TemplatedResource
from ._watch import FolderWatch
from .completions import offered, values_of
from .errors import ResourceNotFound
from .skills import Skills

if TYPE_CHECKING:
    from ..config import Config
    from ..config.models.resources import ResourceConfig, ResourceTemplateConfig

_INVALID_PARAMS = -32602

_log = logging.getLogger(__name__)
_Stamps = dict[str, tuple[int, ...]]


class Resources:
    """The resources that clients may read. While ``run`` runs, ``changed`` is called with changes of their
    files.

    ``watched`` is set once every later change of a file is noticed. ``redact`` removes the config's secrets
    from texts. ``skills`` are those of the config, if it has any.
    """

    def __init__(self, config: Config) -> None:
        self.changed: Callable[..., None] = _ignored
        self.watched = anyio.Event()
        self._config = config
        self._base = config.directory.absolute()
        self._limit = config.limits.resource_bytes
        self._most = config.limits.resources
        self.redact = config.redact
        self.redact_base64 = config.redact_base64
        self._own: list[Entry] = [self._entry(each) for each in config.resources]
        self._made = [self._template(each) for each in config.resource_templates]
        self.skills = None if config.skills is None else Skills.of(config.skills, self._base, self._limit)
        if self.skills is not None:
            self._own.append(self.skills)
        self._warned = False

    def serves(self, config: Config) -> bool:
        """Whether ``config`` has the same resources."""
        ours = self._config
        return config.directory == ours.directory and is_same(
            [config.resources, config.resource_templates, config.skills, config.limits],
            [ours.resources, ours.resource_templates, ours.skills, ours.limits],
        )

    @property
    def has_files(self) -> bool:
        """Whether there are files for ``run`` to watch."""
        return bool(self._folders(recursive=True) or self._folders(recursive=False))

    @property
    def templates(self) -> list[dict[str, Any]]:
        """The resource templates in MCP's form, in the config's order."""
        return [made.described() for made in self._made]

    @property
    def completable(self) -> bool:
        """Whether there are templates, for whose variables there may be values to offer."""
        return bool(self._made)

    async def listed_templates(self) -> list[dict[str, Any]]:
        """``templates``."""
        return self.templates

    async def contents(self, uri: str, _origin: Origin) -> list[dict[str, Any]]:
        """The contents of ``uri``: what ``read`` gives."""
        return [await self.read(uri)]

    async def listed(self) -> list[dict[str, Any]]:
        """The resources that exist now, in MCP's form and the config's order, files sorted by path.

        Of equal URIs only the first is listed; at most ``limits.resources`` are.
        """
        if any(entry.folder is not None for entry in self._own):
            return await anyio.to_thread.run_sync(self._listed)
        return self._listed()

    async def read(self, uri: str) -> dict[str, Any]:
        """The content of ``uri`` in MCP's form: ``uri``, ``mimeType`` and ``text`` or ``blob``.

        Raises ``ResourceNotFound`` and ``ResourceUnreadable``.
        """
        if len(uri) > LONGEST_URI or repaired(uri) != uri:
            raise ResourceNotFound(uri)
        for entry in self._entries():
            if entry.has(uri):
                read = partial(entry.read, uri, self._limit)
                found = read() if entry.folder is None else await anyio.to_thread.run_sync(read)
                return self._sent(found)
        raise ResourceNotFound(uri)

    async def complete(
        self, template: str, variable: str, typed: str, given: Mapping[str, str], _origin: Origin
    ) -> dict[str, Any]:
        """Completions for ``variable`` of ``template`` (its text); see ``completions.offered``.

        Raises ``RequestRefused`` for an unknown template or variable, ``CompletionUnavailable`` when values
        are not available.
        """
        made = next((each for each in self._made if each.config.uri_template == template), None)
        if made is None:
            raise RequestRefused(_INVALID_PARAMS, f"Resource template {template[:200]!r} not found")
        if variable not in made.template.variables:
            raise RequestRefused(_INVALID_PARAMS, f"The resource template has no variable {variable[:100]!r}")
        config = made.config.variables.get(variable)
        if config is not None:
            values = partial(values_of, config, given, self._base, self._limit)
            found = values() if config.values_from is None else await anyio.to_thread.run_sync(values)
            return offered(found, typed)
        if made.folder is None:
            return offered((), typed)
        return await anyio.to_thread.run_sync(lambda: offered(made.known(variable, given), typed))

    async def follow(self, uri: str) -> None:
        """Changes of files are noticed anyway."""

    def subscribe(self, changed: Callable[..., None]) -> None:
        """Tell ``changed`` of changes."""
        self.changed = changed

    async def run(self) -> None:
        """Watch the files until cancelled. All threads end with it."""
        stop = Event()
        watches = [self._folders(recursive=True), self._folders(recursive=False)]
        ready = _Countdown(sum(1 for folders in watches if folders), self.watched)
        async with anyio.create_task_group() as group:
            group.start_soon(_set_at_end, stop)
            for recursive, entries in zip((True, False), watches, strict=True):
                if entries:
                    keep = partial(self._keep, entries, stop, ready, recursive=recursive)
                    thread = partial(anyio.to_thread.run_sync, keep, limiter=anyio.CapacityLimiter(1))
                    group.start_soon(kept("the watch over resources", thread))

    def _entry(self, config: ResourceConfig) -> Entry:
        entry: Entry = config.content.live(config, self._base)
        return entry

    def _template(self, config: ResourceTemplateConfig) -> TemplatedResource:
        return TemplatedResource(config) if config.file is None else TemplatedFile(config, self._base)

    def _entries(self) -> Iterator[Entry]:
        yield from self._own
        yield from self._made

    def _folders(self, *, recursive: bool) -> list[Entry]:
        return [
            each for each in self._entries() if each.folder is not None and each.folder.recursive == recursive
        ]

    def _listed(self) -> list[dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for entry in self._own:
            for resource in entry.listed():
                if len(found) == self._most:
                    self._warn()
                    return list(found.values())
                found.setdefault(resource["uri"], resource)
        return list(found.values())

    def _warn(self) -> None:
        if not self._warned:
            self._warned = True
            _log.warning("only %d resources are listed, the limit of limits.resources", self._most)

    def _sent(self, found: dict[str, Any]) -> dict[str, Any]:
        if "text" in found:
            found["text"] = self.redact(repaired(found["text"]))
        if "blob" in found:
            found["blob"] = self.redact_base64(found["blob"])
        return found

    def _keep(self, entries: Sequence[Entry], stop: Event, ready: _Countdown, *, recursive: bool) -> None:
        folders = [entry.folder for entry in entries if entry.folder is not None]
        known: _Stamps | None = None
        for number, _ in enumerate(FolderWatch(folders, stop, recursive=recursive).rounds()):
            try:
                now = dict(stamp for entry in entries for stamp in entry.stamps())
            except OSError as error:
                _log.warning("the files of resources cannot be looked at: %s", error)
                continue
            if stop.is_set():
                return
            changes = [] if known is None else list(_differences(known, now))
            known = now
            anyio.from_thread.run_sync(partial(self._notify_changes, changes, ready if number == 1 else None))

    def _notify_changes(self, changes: Sequence[Change], ready: _Countdown | None) -> None:
        if changes:
            self.changed(*changes)
        if ready is not None:
            ready.step()


class _Countdown:
    """Sets ``event`` after ``count`` steps."""

    def __init__(self, count: int, event: anyio.Event) -> None:
        self._count = count
        self._event = event

    def step(self) -> None:
        self._count -= 1
        if not self._count:
            self._event.set()


def _differences(before: _Stamps, after: _Stamps) -> Iterator[Change]:
    if before.keys() != after.keys():
        yield Change("resources")
    for uri in before.keys() | after.keys():
        if before.get(uri) != after.get(uri):
            yield Change("resource", uri)


def _ignored(*_changes: Change) -> None:
    return None


async def _set_at_end(stop: Event) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        stop.set()
