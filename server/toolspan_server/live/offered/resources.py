"""The resources of the config and of its upstreams, by their own URIs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...calls.caller import Origin
from ...common.changes import Change
from ...engines.uri_templates import LONGEST_URI, UriTemplate
from ...errors import RequestRefused
from ...resources.errors import ResourceNotFound
from ..call_log import Line, line_of
from .upstream_values import SECONDS, refusals_of, sent, until_ready

if TYPE_CHECKING:
    from ...config import Config
    from ...resources.live import Resources
    from ...resources.skills import Skills
    from ...tools.services._upstreams import Upstream

_log = logging.getLogger(__name__)
_INVALID_PARAMS = -32602
_NOT_FOUND = (-32002, -32602)
_NAMED = 20


class OfferedResources:
    """What ``own`` has, then what each of ``upstreams`` lists: of equal URIs the first stays.

    ``changed`` is told of changes of the upstreams' lists and resources.
    """

    def __init__(self, config: Config, own: Resources | None, upstreams: Sequence[Upstream]) -> None:
        self._config = config
        self._own = own
        self._upstreams = upstreams
        self._named: set[str] = set()
        self._unfollowed: set[str] = set()

    @property
    def skills(self) -> Skills | None:
        """The skills of the config."""
        return None if self._own is None else self._own.skills

    @property
    def completable(self) -> bool:
        """Whether there may be values to offer: an upstream may come to have templates."""
        return True

    async def listed(self) -> list[dict[str, Any]]:
        """The resources that exist now, in MCP's form; at most ``limits.resources``."""
        own = [] if self._own is None else await self._own.listed()
        await until_ready(self._upstreams, self._config.limits.upstream_connect_seconds)
        found = {each["uri"]: each for each in own}
        for upstream in self._upstreams:
            for each in upstream.catalog.lists.get("resources", ()):
                if found.setdefault(each["uri"], each) is not each:
                    self._name(upstream.name, each["uri"])
        listed = list(found.values())[: self._config.limits.resources]
        return [sent(self._config, each, "A resource's entry") for each in listed]

    async def listed_templates(self) -> list[dict[str, Any]]:
        """The resource templates, in MCP's form."""
        await until_ready(self._upstreams, self._config.limits.upstream_connect_seconds)
        own = [] if self._own is None else await self._own.listed_templates()
        found = {each["uriTemplate"]: each for each in own}
        for upstream in self._upstreams:
            for each in upstream.catalog.lists.get("resourceTemplates", ()):
                found.setdefault(each["uriTemplate"], each)
        return [sent(self._config, each, "A template") for each in found.values()]

    async def contents(self, uri: str, origin: Origin) -> list[dict[str, Any]]:
        """The contents of ``uri`` for ``origin``: of whoever lists it or has a template for it, else of the
        first that knows it, since servers link to resources that they do not list.

        Raises ``ResourceNotFound``, ``ResourceUnreadable``, and ``RequestRefused`` with an upstream's words.
        """
        with line_of("resource", uri, origin) as line:
            return await self._contents(uri, origin, line)

    async def _contents(self, uri: str, origin: Origin, line: Line) -> list[dict[str, Any]]:
        if self._own is not None:
            try:
                return await self._own.contents(uri, origin)
            except ResourceNotFound:
                pass
        if len(uri) > LONGEST_URI:
            raise ResourceNotFound(uri)
        await until_ready(self._upstreams, self._config.limits.upstream_connect_seconds)
        for upstream in self._owners(uri) or self._readable():
            line.server = upstream.name
            try:
                return await self._read(upstream, uri, origin)
            except RequestRefused as refused:
                if refused.code not in _NOT_FOUND:
                    raise
        raise ResourceNotFound(uri)

    async def complete(
        self, template: str, variable: str, typed: str, given: Mapping[str, str], origin: Origin
    ) -> dict[str, Any]:
        """Completions for ``variable`` of ``template``. Raises as ``Resources.complete``."""
        for upstream in self._upstreams:
            templates = upstream.catalog.lists.get("resourceTemplates", ())
            if any(each["uriTemplate"] == template for each in templates):
                ref = {"type": "ref/resource", "uri": template}
                return await completion(self._config, upstream, ref, variable, typed, given, origin)
        if self._own is None:
            raise RequestRefused(_INVALID_PARAMS, f"Resource template {template[:200]!r} not found")
        return await self._own.complete(template, variable, typed, given, origin)

    async def follow(self, uri: str) -> None:
        """Have the upstream that has ``uri`` tell of its changes. The log names those that are not told of: a
        server may not tell, and a bounded number is followed of each."""
        for upstream in self._owners(uri)[:1]:
            if not await upstream.connection.follow(uri) and len(self._unfollowed) < _NAMED:
                self._unfollowed.add(uri)
                _log.warning("changes of %r of upstream %r are not told of", uri, upstream.name)

    def subscribe(self, changed: Callable[[Change], None]) -> None:
        """Tell ``changed`` of changes."""
        for upstream in self._upstreams:
            upstream.catalog.changed = changed

    def _owners(self, uri: str) -> list[Upstream]:
        """Those that list ``uri``, else those with a template for it."""
        listing = [each for each in self._readable() if _lists(each, uri)]
        return listing[:1] or [each for each in self._readable() if _has_template(each, uri)]

    def _readable(self) -> list[Upstream]:
        return [each for each in self._upstreams if each.serves_resources]

    async def _read(self, upstream: Upstream, uri: str, origin: Origin) -> list[dict[str, Any]]:
        async with refusals_of(upstream):
            connection = await upstream.connection_of_caller(origin)
            result = await connection.request("resources/read", {"uri": uri}, timeout=SECONDS)
        contents: Any = result.get("contents")
        if not isinstance(contents, list):
            raise RequestRefused(-32603, f"Upstream '{upstream.name}' answered without contents")
        found: list[dict[str, Any]] = sent(self._config, contents, "The resource")
        return found

    def _name(self, upstream: str, uri: str) -> None:
        if uri not in self._named and len(self._named) < _NAMED:
            self._named.add(uri)
            _log.warning("the resource %r of upstream %r is left out: another one has its URI", uri, upstream)


async def completion(
    config: Config,
    upstream: Upstream,
    ref: Mapping[str, Any],
    name: str,
    typed: str,
    given: Mapping[str, str],
    origin: Origin,
) -> dict[str, Any]:
    """What ``upstream`` offers for the argument ``name`` of what ``ref`` refers to."""
    params: dict[str, Any] = {"ref": ref, "argument": {"name": name, "value": typed}}
    if given:
        params["context"] = {"arguments": dict(given)}
    async with refusals_of(upstream):
        connection = await upstream.connection_of_caller(origin)
        result = await connection.request("completion/complete", params, timeout=SECONDS)
    values: Any = result.get("completion")
    if not isinstance(values, dict):
        raise RequestRefused(-32603, f"Upstream '{upstream.name}' answered without a completion")
    found: dict[str, Any] = sent(config, values, "The completion")
    return found


def _lists(upstream: Upstream, uri: str) -> bool:
    return any(each["uri"] == uri for each in upstream.catalog.lists.get("resources", ()))


def _has_template(upstream: Upstream, uri: str) -> bool:
    for each in upstream.catalog.lists.get("resourceTemplates", ()):
        try:
            if UriTemplate.parse(each["uriTemplate"]).match(uri) is not None:
                return True
        except ValueError:
            continue
    return False
