"""References: made local and plain, or found to have no target."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from ..json_values import (
    as_list,
    as_object,
    is_object,
    text,
)
from ._walk import (
    LISTS,
    MAPS,
    SINGLES,
    Change,
    Schema,
    Unrenderable,
    subschemas,
    tokens,
)

_REFS = ("$ref", "$dynamicRef", "$recursiveRef")
_ANCHORS = ("$anchor", "$dynamicAnchor", "$id", "id")
_INDEX = re.compile(r"0|[1-9]\d{0,5}")  # RFC 6901: without leading zeros, so that a place has one name
_MOST_COPIED = 25_000
"""How many schemas may be copied from where they stand to ``$defs``."""
_MISSING = object()


def localise(schema: Schema) -> tuple[Schema, list[Change]]:
    """Every reference becomes ``$ref`` to ``#`` or ``#/$defs/NAME``; what others point at is moved there.

    Raises ``Unrenderable`` for a reference out of the document (nothing is ever fetched) or to nothing.
    """
    schema = copy.deepcopy(schema)
    return _Localiser(schema).run(), []


def resolve(schema: Schema, ref: str) -> Schema:
    """The object schema behind a reference made by ``localise``; a boolean one as an object."""
    target = find(schema, tokens(ref))
    return (as_object(target) or {}) if target is not False else {"not": {}}


def find(schema: Any, path: list[str]) -> Any:
    """The value at ``path``, or ``MISSING`` (see ``found``)."""
    for token in path:
        inside = as_object(schema)
        listed = as_list(schema)
        if inside is not None and token in inside:
            schema = inside[token]
        elif listed is not None and _INDEX.fullmatch(token) and int(token) < len(listed):
            schema = listed[int(token)]
        else:
            return _MISSING
    return schema


def found(value: Any) -> bool:
    """Whether ``find`` found something."""
    return value is not _MISSING


def recursive(schema: Schema) -> frozenset[str]:
    """The references that lead back to themselves."""
    graph = {ref: _outgoing(schema, ref) for ref in set(refs_in(schema))}
    backwards: dict[str, set[str]] = {ref: set() for ref in graph}
    for ref, inner in graph.items():
        for each in inner & graph.keys():
            backwards[each].add(ref)
    left = [ref for order in _reached(graph) for ref in order]
    circles = list(_reached({ref: backwards[ref] for ref in reversed(left)}))  # Kosaraju's algorithm
    return frozenset(ref for circle in circles for ref in circle if len(circle) > 1 or ref in graph[ref])


def prune(schema: Schema) -> tuple[Schema, list[Change]]:
    """Remove definitions that nothing refers to."""
    used: set[str] = set()
    waiting = [{key: value for key, value in schema.items() if key != "$defs"}]
    while waiting:
        for ref in refs_in(waiting.pop()):
            if ref not in used:
                used.add(ref)
                waiting.append(resolve(schema, ref))
    definitions = as_object(schema.get("$defs")) or {}
    kept = {name: inner for name, inner in definitions.items() if definition(name) in used}
    pruned = {key: value for key, value in schema.items() if key != "$defs"}
    return ({**pruned, "$defs": kept} if kept else pruned), []


def definition(name: str) -> str:
    """The reference to ``$defs/NAME``."""
    return f"#/$defs/{name.replace('~', '~0').replace('/', '~1')}"


def refs_in(schema: Any) -> Iterator[str]:
    """Every reference in ``schema``."""
    return (node["$ref"] for _, node in subschemas(schema) if isinstance(node.get("$ref"), str))


def _outgoing(schema: Schema, ref: str) -> set[str]:
    return set(refs_in(resolve(schema, ref)))


def _reached(graph: dict[str, set[str]]) -> Iterator[list[str]]:
    """The references of each depth-first search, in the order in which they were left."""
    seen: set[str] = set()
    for start in graph:
        order: list[str] = []
        waiting = [] if start in seen else [(start, iter(graph[start]))]
        seen.add(start)
        while waiting:
            ref, inner = waiting[-1]
            fresh = next((each for each in inner if each in graph and each not in seen), None)
            if fresh is None:
                order.append(ref)
                waiting.pop()
            else:
                seen.add(fresh)
                waiting.append((fresh, iter(graph[fresh])))
        yield order


class _Localiser:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.anchors = self._anchors()
        self.moved: dict[str, str] = {}
        self.copied = 0
        self.definitions: dict[str, Any] = {**_dict(schema, "definitions"), **_dict(schema, "$defs")}
        self.shadowed = _dict(schema, "definitions").keys() & _dict(schema, "$defs").keys()

    def run(self) -> Schema:
        waiting: list[tuple[str, Any]] = [("", self.schema)]
        containers: set[str] = set()
        while waiting:
            pointer, part = waiting.pop()
            for where, node in subschemas(part, pointer):
                for keyword in _REFS:
                    if isinstance(node.get(keyword), str):
                        path = self._path(node.pop(keyword), where)
                        node["$ref"], fresh = self._place(path, where)
                        if fresh is not None:
                            waiting.append((node["$ref"][1:], fresh))
                            containers.add(path[0])
        kept = {key: value for key, value in self.schema.items() if not _is_container(key, containers)}
        for part in (kept, *self.definitions.values()):
            for _, node in subschemas(part):
                node.pop("$defs", None)
                node.pop("definitions", None)
        return {**kept, "$defs": self.definitions} if self.definitions else kept

    def _anchors(self) -> dict[str, str]:
        anchors: dict[str, str] = {}
        for where, node in subschemas(self.schema):
            for keyword in _ANCHORS:
                name = text(node.get(keyword)).strip("#")
                if name:
                    anchors.setdefault(name, where)
        return anchors

    def _path(self, ref: str, where: str) -> list[str]:
        document, _, fragment = ref.partition("#")
        if document and document not in self.anchors:
            raise Unrenderable(f"{where}/$ref", "external-ref", f"{ref!r} is outside of the schema")
        start = self.anchors.get(document, "") if document else ""
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            start, fragment = self.anchors.get(fragment, f"/{fragment}"), ""
        return tokens(start + fragment)

    def _place(self, path: list[str], where: str) -> tuple[str, Any]:
        """The reference to write, and the target when it has just been moved."""
        if not path:
            return "#", None
        if len(path) == 2 and path[0] == "$defs" and path[1] in self.definitions:
            return definition(path[1]), None
        target = find(self.schema, path)
        if not (is_object(target) or isinstance(target, bool)):
            raise Unrenderable(f"{where}/$ref", "dangling-ref", f"'#/{'/'.join(path)}' is no schema")
        if len(path) == 2 and path[0] == "definitions" and path[1] not in self.shadowed:
            return definition(path[1]), None
        key = "\0".join(path)
        if key in self.moved:
            return self.moved[key], None
        self.copied += sum(1 for _ in subschemas(target))
        if self.copied > _MOST_COPIED:
            why = f"more than {_MOST_COPIED:,} schemas are referred to by their place, not under $defs"
            raise Unrenderable(f"{where}/$ref", "too-large", why)
        name = self._free_name(path)
        self.moved[key] = definition(name)
        self.definitions[name] = copy.deepcopy(target)
        return self.moved[key], self.definitions[name]

    def _free_name(self, path: list[str]) -> str:
        name = re.sub(r"[^A-Za-z0-9_]+", "_", "_".join(path[-2:]))[:48] or "part"
        number = 1
        while (free := name if number == 1 else f"{name}_{number}") in self.definitions:
            number += 1
        return free


def _dict(schema: Schema, keyword: str) -> dict[str, Any]:
    return as_object(schema.get(keyword)) or {}


def _is_container(key: str, containers: set[str]) -> bool:
    known = key in MAPS or key in LISTS or key in SINGLES
    return key in ("$defs", "definitions") or (key in containers and not known)
