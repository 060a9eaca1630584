"""The prompts of the config and of its upstreams, whose names are kept in a table."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...calls.caller import Origin
from ...calls.client import Client
from ...errors import RequestRefused
from ..call_log import Line, line_of
from .resources import completion
from .upstream_values import sent, until_ready

if TYPE_CHECKING:
    from ...config import Config
    from ...prompts.live import Prompts
    from ...tools.services._upstreams import Upstream

_log = logging.getLogger(__name__)
_INVALID_PARAMS = -32602
_NAMED = 20


class OfferedPrompts:
    """What ``own`` has, then what each of ``upstreams`` lists: of equal names the first stays."""

    def __init__(self, config: Config, own: Prompts | None, upstreams: Sequence[Upstream]) -> None:
        self._config = config
        self._own = own
        self._upstreams = upstreams
        self._named: set[str] = set()

    @property
    def completable(self) -> bool:
        """Whether there may be values to offer: an upstream may come to have prompts."""
        return True

    async def entries(self) -> list[dict[str, Any]]:
        """The prompts, in MCP's form."""
        await until_ready(self._upstreams, self._config.limits.upstream_connect_seconds)
        own = [] if self._own is None else await self._own.entries()
        theirs = [{**entry, "name": name} for name, (_, entry) in self._table().items()]
        return own + [sent(self._config, each, "A prompt's entry") for each in theirs]

    async def get(
        self, name: str, arguments: Mapping[str, str], client: Client, origin: Origin
    ) -> dict[str, Any]:
        """The ``description`` and ``messages`` of the prompt. Raises as ``Prompts.get``; an upstream
        refuses in its own words."""
        with line_of("prompt", name, origin) as line:
            return await self._got(name, arguments, client, origin, line)

    async def _got(
        self, name: str, arguments: Mapping[str, str], client: Client, origin: Origin, line: Line
    ) -> dict[str, Any]:
        if (found := await self._found(name)) is None:
            if self._own is None:
                raise _unknown(name)
            return await self._own.get(name, arguments, client, origin)
        from ...tools.kinds._upstream_request import upstream_request

        upstream, theirs = found
        line.server = upstream.name
        params: dict[str, Any] = {"name": theirs}
        if arguments:
            params["arguments"] = dict(arguments)
        result = await upstream_request(upstream, "prompts/get", params, client, origin)
        known = {each: result[each] for each in ("description", "messages") if result.get(each) is not None}
        if not isinstance(known.get("messages"), list):
            raise RequestRefused(-32603, f"Upstream '{upstream.name}' answered without messages")
        plain: dict[str, Any] = sent(self._config, known, f"Prompt {name!r}")
        return plain

    async def complete(
        self, name: str, argument: str, typed: str, given: Mapping[str, str], origin: Origin
    ) -> dict[str, Any]:
        """Completions for ``argument`` of the prompt ``name``. Raises as ``Prompts.complete``."""
        if (found := await self._found(name)) is None:
            if self._own is None:
                raise _unknown(name)
            return await self._own.complete(name, argument, typed, given, origin)
        upstream, theirs = found
        ref = {"type": "ref/prompt", "name": theirs}
        return await completion(self._config, upstream, ref, argument, typed, given, origin)

    async def _found(self, name: str) -> tuple[Upstream, str] | None:
        """The upstream that has the prompt, and its name there; ``None`` where no upstream has it."""
        if self._own is not None and self._own.has(name):
            return None
        await until_ready(self._upstreams, self._config.limits.upstream_connect_seconds)
        found = self._table().get(name)
        return None if found is None else (found[0], found[1]["name"])

    def _table(self) -> dict[str, tuple[Upstream, Mapping[str, Any]]]:
        """The upstreams' prompts by their names here."""
        table: dict[str, tuple[Upstream, Mapping[str, Any]]] = {}
        for upstream in self._upstreams:
            if (chosen := upstream.serves_prompts) is None:
                continue
            for entry in upstream.catalog.lists.get("prompts", ()):
                name = chosen.prefix + entry["name"]
                if not chosen.selects(entry["name"]):
                    continue
                if name in table or (self._own is not None and self._own.has(name)):
                    self._name(upstream.name, name)
                    continue
                table[name] = (upstream, entry)
        return table

    def _name(self, upstream: str, name: str) -> None:
        if name not in self._named and len(self._named) < _NAMED:
            self._named.add(name)
            _log.warning("the prompt %r of upstream %r is left out: another one has its name", name, upstream)


def _unknown(name: str) -> RequestRefused:
    return RequestRefused(_INVALID_PARAMS, f"Prompt {name[:200]!r} not found")
