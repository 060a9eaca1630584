"""A description as data, and what its references mean. Nothing is ever fetched for one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import unquote, urljoin

from ...errors import ConfigError
from ...schema.positions import parse_document
from ._errors import UnusableDescription, UnusableOperation

MAX_BYTES = 10 * 1024 * 1024
"""Longest description."""

MAX_OPERATIONS = 1_000
"""Most operations that become tools."""

METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_OTHER_METHODS = ("trace", "query")
_HOPS = 20
_VARIABLE = re.compile(r"\{([^{}]+)\}")


def object_at(value: Any) -> dict[str, Any]:
    """``value`` if it is an object, else an empty one."""
    return cast("Any", value) if isinstance(value, dict) else {}


def list_at(value: Any) -> list[Any]:
    """``value`` if it is a list, else an empty one."""
    return cast("Any", value) if isinstance(value, list) else []


def text_at(value: Any) -> str:
    """``value`` if it is a text, else an empty one."""
    return str(value) if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation; ``item`` is the path's object, whose parameters and servers it shares.

    ``fault`` says why it cannot be read; ``method`` is empty for a path whose operations are not known then.
    """

    method: str
    path: str
    data: Mapping[str, Any]
    item: Mapping[str, Any]
    fault: str = ""

    @property
    def place(self) -> str:
        """How messages call it: ``GET /users/{id}``."""
        return f"{self.method.upper()} {self.path}".strip()

    @property
    def id(self) -> str:
        """Its operationId, or an empty text."""
        return text_at(self.data.get("operationId"))

    @property
    def tags(self) -> list[str]:
        """Its tags."""
        return [tag for tag in list_at(self.data.get("tags")) if isinstance(tag, str)]


@dataclass(frozen=True, slots=True)
class Description:
    """An OpenAPI document. ``legacy``: it is of version 3.0, whose schemas are no JSON Schema yet."""

    data: Mapping[str, Any]
    legacy: bool

    @classmethod
    def parse(cls, content: bytes, name: str) -> Description:
        """``content`` of a file or URL that is called ``name``. Raises ``UnusableDescription``."""
        try:
            document = parse_document(content.decode("utf-8-sig"), name, any_keys=True)
        except UnicodeDecodeError:
            raise UnusableDescription("it is not UTF-8") from None
        except ConfigError as error:
            raise UnusableDescription(str(error.problems[0])) from None
        if grave := [fault for fault in document.faults if not fault.on_key]:
            raise UnusableDescription(str(document.problem(grave[0])))
        data = object_at(document.data)
        version = text_at(data.get("openapi"))
        if not re.match(r"3\.[012](?:\.|\Z)", version):
            found = f"openapi is {version[:20]!r}" if version else "it has no openapi: 3.x"
            raise UnusableDescription(f"it is no OpenAPI 3 description: {found}")
        return cls(data, version.startswith("3.0"))

    def operations(self) -> Iterator[Operation]:
        """Every operation, in the order of the document; also those that cannot be read."""
        for path, found in object_at(self.data.get("paths")).items():
            if path.startswith("x-"):
                continue
            try:
                item = self.resolved(found)
            except UnusableOperation as error:
                item = object_at(found)
                yield Operation("", path, {}, item, str(error))
            if not isinstance(found, dict):
                yield Operation("", path, {}, item, "it is no object")
            for method in METHODS:
                if method in item:
                    yield self._operation(method, path, item)
            more = object_at(item.get("additionalOperations"))
            for method in (*(each for each in _OTHER_METHODS if each in item), *more):
                yield Operation(method, path, {}, item, f"the method {method.upper()[:50]} is not supported")

    def _operation(self, method: str, path: str, item: Mapping[str, Any]) -> Operation:
        try:
            data = self.resolved(item[method])
        except UnusableOperation as error:
            return Operation(method, path, {}, item, str(error))
        fault = "" if isinstance(item[method], dict) else "it is no object"
        return Operation(method, path, data, item, fault)

    def resolved(self, value: Any) -> dict[str, Any]:
        """The object that ``value`` is or refers to. Raises ``UnusableOperation``."""
        found = object_at(value)
        for _ in range(_HOPS):
            if not isinstance(found.get("$ref"), str):
                return found
            found = object_at(self.target(found["$ref"]))
        raise UnusableOperation("its references go round in circles")

    def target(self, reference: str) -> Any:
        """What a reference inside the document leads to. Raises ``UnusableOperation``."""
        if not reference.startswith("#/"):
            raise UnusableOperation(f"{reference[:100]!r} is outside of the description: nothing is fetched")
        found: Any = self.data
        for token in unquote(reference[2:]).split("/"):
            step = token.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and step.isascii() and step.isdecimal() and len(step) < 10:
                members = list_at(cast("Any", found))
                found = members[int(step)] if int(step) < len(members) else None
            else:
                found = object_at(found).get(step)
            if found is None:
                raise UnusableOperation(f"{reference[:100]!r} leads nowhere")
        return found

    def server(self, operation: Operation, base: str) -> str:
        """The URL that the operation's path follows; a relative one starts at ``base``."""
        for owner in (operation.data, operation.item, self.data):
            servers = list_at(owner.get("servers"))
            if servers:
                return urljoin(base, _server_url(object_at(servers[0])))
        return urljoin(base, "/")


def _server_url(server: Mapping[str, Any]) -> str:
    """The URL with each variable's default value."""
    variables = object_at(server.get("variables"))

    def value(match: re.Match[str]) -> str:
        return text_at(object_at(variables.get(match[1])).get("default"))

    return _VARIABLE.sub(value, text_at(server.get("url")))
