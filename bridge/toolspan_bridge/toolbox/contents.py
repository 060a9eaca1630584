"""Resources and prompts of the connected servers, for people who name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from toolspan_server.engines.upstreams import CallRefused, NoResult, ServerGone

from ..errors import UnreachableError, UsageError
from ._rounds import NotAnswered
from .connection import ToolConnection

MOST_LISTED = 1_000
"""The most resources, templates or prompts that are read of one server."""

_PAGES = 20
_SHOWN = 20
_NO_SUCH_METHOD = -32601


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt of a server: its arguments by name, with whether each is needed."""

    name: str
    description: str
    arguments: Mapping[str, bool]


class Contents:
    """What servers have besides tools. A server without resources or prompts has empty lists.

    They are read for ``principal``. Everything raises ``UsageError`` for what is not there, saying what is,
    and ``UnreachableError`` when a server does not answer.
    """

    def __init__(self, connections: Mapping[str, ToolConnection], principal: str | None) -> None:
        self._connections = connections
        self._principal = principal

    @property
    def servers(self) -> tuple[str, ...]:
        """The names of the connected servers."""
        return tuple(name for name, connection in self._connections.items() if connection.failure is None)

    async def resources(self, server: str) -> tuple[str, ...]:
        """The URIs that ``server`` lists."""
        listed = await self._list(server, "resources/list", "resources")
        return tuple(str(each["uri"]) for each in listed if isinstance(each.get("uri"), str))

    async def templates(self, server: str) -> tuple[str, ...]:
        """The URI templates of ``server``."""
        listed = await self._list(server, "resources/templates/list", "resourceTemplates")
        return tuple(str(each["uriTemplate"]) for each in listed if isinstance(each.get("uriTemplate"), str))

    async def prompts(self, server: str) -> tuple[Prompt, ...]:
        """The prompts of ``server``."""
        listed = await self._list(server, "prompts/list", "prompts")
        return tuple(_prompt(each) for each in listed if isinstance(each.get("name"), str))

    async def read(self, server: str, uri: str) -> list[dict[str, Any]]:
        """The contents of the resource: ``{"uri", "mimeType", "text"}``, or ``"blob"`` (base64)."""
        try:
            result = await self._ask(server, "resources/read", {"uri": uri})
        except CallRefused as refused:
            offered = [*await self.resources(server), *await self.templates(server)]
            there = _listing(offered) or "it lists none"
            raise UsageError(
                f"the server {server!r} has no resource {uri!r}: {refused.message} ({there})"
            ) from None
        return _objects(result.get("contents"))

    async def subscribe(self, server: str, uri: str) -> bool:
        """Have the server tell when the resource changes (``Toolbox.take_news``), also after it was started
        again; false where it does not."""
        return await self._connection(server).follow(uri)

    async def prompt(
        self, server: str, name: str, given: Sequence[str] | Mapping[str, str]
    ) -> list[dict[str, Any]]:
        """The messages of the prompt: ``{"role", "content"}``. Arguments are ``given`` by name, or as texts
        in their order, ``NAME=VALUE`` among them."""
        prompts = {prompt.name: prompt for prompt in await self.prompts(server)}
        if name not in prompts:
            there = _listing(prompts) or "it has none"
            raise UsageError(f"the server {server!r} has no prompt {name!r} ({there})")
        arguments = _arguments(prompts[name], given)
        try:
            result = await self._ask(server, "prompts/get", {"name": name, "arguments": arguments})
        except CallRefused as refused:
            raise UsageError(
                f"the prompt {name!r} of the server {server!r}: {refused.message} ({_usage(prompts[name])})"
            ) from None
        return _objects(result.get("messages"))

    async def complete(
        self, server: str, reference: Mapping[str, str], argument: str, value: str
    ) -> tuple[str, ...]:
        """What ``server`` proposes for ``value`` of the ``argument`` of a prompt or template; none where it
        proposes nothing."""
        params = {"ref": dict(reference), "argument": {"name": argument, "value": value}}
        try:
            result = await self._ask(server, "completion/complete", params)
        except CallRefused:
            return ()
        values: Any = cast("dict[str, Any]", result.get("completion") or {}).get("values")
        texts: list[Any] = cast("Any", values) if isinstance(values, list) else []
        return tuple(text for text in texts[:100] if isinstance(text, str))

    async def _list(self, server: str, method: str, key: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor: Any = None
        for _ in range(_PAGES):
            try:
                page = await self._ask(server, method, {"cursor": cursor} if cursor else {})
            except CallRefused as refused:
                if refused.code == _NO_SUCH_METHOD:
                    return found
                raise UsageError(f"the server {server!r} refuses {method}: {refused.message}") from None
            found += _objects(page.get(key))
            cursor = page.get("nextCursor")
            if not cursor or len(found) >= MOST_LISTED:
                break
        return found[:MOST_LISTED]

    def _connection(self, server: str) -> ToolConnection:
        connection = self._connections.get(server)
        if connection is None:
            raise UsageError(f"there is no server {server!r} ({_listing(self.servers) or 'there is none'})")
        return connection

    async def _ask(self, server: str, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return await self._connection(server).asked(method, params, self._principal)
        except TimeoutError:
            raise UnreachableError(f"the server {server!r} did not answer {method} in time") from None
        except (ServerGone, NoResult, NotAnswered) as error:
            raise UnreachableError(f"the server {server!r}: {error}") from None


def _prompt(entry: Mapping[str, Any]) -> Prompt:
    arguments = {
        str(each["name"]): each.get("required") is True
        for each in _objects(entry.get("arguments"))
        if isinstance(each.get("name"), str)
    }
    return Prompt(str(entry["name"]), str(entry.get("description") or ""), arguments)


def _arguments(prompt: Prompt, given: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    if isinstance(given, Mapping):
        arguments = dict(given)
    else:
        arguments, places = {}, list(prompt.arguments)
        for text in given:
            name, equals, value = text.partition("=")
            if equals and name in prompt.arguments:
                arguments[name] = value
                continue
            left = [place for place in places if place not in arguments]
            if not left:
                raise UsageError(f"too many arguments for the prompt {prompt.name!r} ({_usage(prompt)})")
            arguments[left[0]] = text
    if missing := [name for name, needed in prompt.arguments.items() if needed and name not in arguments]:
        raise UsageError(f"the prompt {prompt.name!r} needs {', '.join(missing)} ({_usage(prompt)})")
    return arguments


def _usage(prompt: Prompt) -> str:
    if not prompt.arguments:
        return "it takes no arguments"
    named = (name if needed else f"[{name}]" for name, needed in prompt.arguments.items())
    return "it takes " + " ".join(named)


def _listing(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _SHOWN:,} more" if len(listed) > _SHOWN else ""
    return f"there are {', '.join(listed[:_SHOWN])}{more}" if listed else ""


def _objects(value: Any) -> list[dict[str, Any]]:
    entries: list[Any] = cast("Any", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", each) for each in entries if isinstance(each, dict)]
