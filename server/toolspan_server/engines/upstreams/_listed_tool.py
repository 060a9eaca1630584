"""A tool as its server lists it, and the list."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from ..definitions import Fingerprint, fingerprint

MAX_DESCRIPTION_BYTES = 4_096
_LARGEST_COMPLETED = 200_000
"""Defaults of larger definitions are not worked out, which would keep the event loop."""

_TAGS_META = "dev.toolspan/tags"
_CARRIED = ("title", "annotations", "outputSchema", "icons", "_meta")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many tools and pages of them are read of one server."""

    tools: int = 1_000
    pages: int = 100


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool as its server lists it.

    ``schema`` is the JSON Schema of its arguments and ``details`` what else it came with (``title``,
    ``annotations``, ``outputSchema``, ``icons``, ``_meta``); of both only the form of a JSON object and of
    ``name`` are known to be right. ``fingerprint`` is that of the whole object.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    fingerprint: Fingerprint = field(default_factory=lambda: Fingerprint("", {}))

    @property
    def annotations(self) -> Mapping[str, Any]:
        """The server's hints, such as ``destructiveHint``; empty where it gives none."""
        return _object(self.details.get("annotations"))

    @property
    def meta(self) -> Mapping[str, Any]:
        """The tool's ``_meta``; empty where it has none."""
        return _object(self.details.get("_meta"))

    @property
    def definition(self) -> dict[str, Any]:
        """What a lock holds the tool to: ``{"name", "description", "schema", "annotations"}``."""
        return {
            "name": self.name,
            "description": self.description,
            "schema": dict(self.schema),
            "annotations": dict(self.annotations),
        }

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags, which only a server of our own gives (``_meta["dev.toolspan/tags"]``)."""
        tags: object = self.meta.get(_TAGS_META) if "_meta" in self.details else None
        listed = cast("list[object]", tags) if isinstance(tags, list) else []
        return tuple(tag for tag in listed if isinstance(tag, str))

    def complete(self, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """``arguments`` with the defaults that the schema gives to what is missing; ``None`` where it is too
        large or too odd to tell, as nobody has found another server's schema right."""
        from ..parameters import finisher

        if self.size > _LARGEST_COMPLETED:
            return None
        given = copy.deepcopy(dict(arguments))
        try:
            finish = finisher(self.schema)
            return given if finish is None else finish(given)
        except Exception:
            return None

    @property
    def runs_alone(self) -> bool:
        """Whether no other call should run beside one of this tool: it says that it is not idempotent and not
        read-only, or its ``_meta`` asks for it."""
        hints = self.annotations
        repeatable = hints.get("idempotentHint") is not False or hints.get("readOnlyHint") is True
        return not repeatable or self.meta.get("dev.toolspan/sequential") is True

    @property
    def size(self) -> int:
        """How much JSON it came as, in characters."""
        return self.fingerprint.size


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def listed_tool(tool: Any) -> ListedTool | str:
    """The tool that an entry of a list is, or why it is none that can be used."""
    if not isinstance(tool, dict):
        return "not an object"
    entry = cast("dict[str, Any]", tool)
    name, schema, description = (entry.get(key) for key in ("name", "inputSchema", "description"))
    if not isinstance(name, str) or not 0 < len(name) <= 256:
        return "its name is no text of 1 to 256 characters"
    if not isinstance(schema, dict) or cast("dict[str, Any]", schema).get("type") != "object":
        return 'its inputSchema is no schema with "type": "object"'
    details = {key: entry[key] for key in _CARRIED if key in entry}
    words = description if isinstance(description, str) else ""
    return ListedTool(name, words, cast("dict[str, Any]", schema), details, fingerprint(entry))


@dataclass(slots=True)
class Listing:
    """A server's tools, and what was left out or cut, in words. ``whole``: nothing was cut off the list.
    ``names_headers``: arguments of some are sent as headers too, so that a session has to know them."""

    tools: list[ListedTool] = field(default_factory=list[ListedTool])
    warnings: list[str] = field(default_factory=list[str])
    whole: bool = True
    names_headers: bool = False
